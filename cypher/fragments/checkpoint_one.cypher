// Convert the checkpoint of competing candidates to the input of fragments/project_one.cypher. Each has its score at
// its last affirmation, which has no further effect on the others.
// needs: checkpoint
// leaves: b, polarity, at, id, s, force, events

UNWIND range(0, size(coalesce(checkpoint.ids, [])) - 1) AS i
MATCH (b:Belief {tenant: $tenant, id: checkpoint.ids[i]})
WITH b, checkpoint.affirmed[i] AS polarity, checkpoint.last_at[i] AS at, checkpoint.last_id[i] AS id,
     checkpoint.scores[i] AS s, 0.0 AS force, checkpoint.events_for[i] + checkpoint.events_against[i] AS events
