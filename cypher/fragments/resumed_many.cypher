// Convert the checkpoint of coexisting candidates to the input of fragments/project_many.cypher: one sum for each
// polarity. Needs `checkpoint`; leaves rows of `said`.

UNWIND range(0, size(coalesce(checkpoint.ids, [])) - 1) AS i
MATCH (b:Belief {tenant: $tenant, id: checkpoint.ids[i]})
UNWIND [
  [b, 1, null, '', checkpoint.last_at[i], checkpoint.l_for[i], checkpoint.events_for[i], checkpoint.episodes_for[i], false],
  [b, -1, null, '', null, checkpoint.l_against[i], checkpoint.events_against[i], checkpoint.episodes_against[i], false]
] AS said
WITH said
WHERE said[6] > 0
