// Convert an event to the input of fragments/project_one.cypher. Needs rows of `b`, `e` and `s`; leaves its rows.
// needs: b, e, s
// leaves: b, polarity, at, id, s, force, events

WITH b, e.polarity AS polarity, e.occurred_at AS at, e.id AS id, s, s AS force, 1 AS events
