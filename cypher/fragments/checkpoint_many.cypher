// Convert the checkpoint of coexisting candidates to the input of fragments/project_many.cypher: one sum for each
// polarity.
// needs: checkpoint
// leaves: b, polarity, episode, alone, at, l, events, episodes, covered

UNWIND range(0, size(coalesce(checkpoint.ids, [])) - 1) AS i
MATCH (b:Belief {tenant: $tenant, id: checkpoint.ids[i]})
UNWIND [1, -1] AS polarity
WITH b, polarity, null AS episode, '' AS alone, CASE polarity WHEN 1 THEN checkpoint.last_at[i] END AS at,
     CASE polarity WHEN 1 THEN checkpoint.l_for[i] ELSE checkpoint.l_against[i] END AS l,
     CASE polarity WHEN 1 THEN checkpoint.events_for[i] ELSE checkpoint.events_against[i] END AS events,
     CASE polarity WHEN 1 THEN checkpoint.episodes_for[i] ELSE checkpoint.episodes_against[i] END AS episodes,
     false AS covered
FILTER events > 0
