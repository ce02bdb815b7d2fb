// Convert an event to the input of fragments/project_one.cypher.
// needs: b, e, s
// leaves: b, polarity, at, id, s, force, events

WITH b, e.polarity AS polarity, e.occurred_at AS at, e.id AS id, s, s AS force, 1 AS events
