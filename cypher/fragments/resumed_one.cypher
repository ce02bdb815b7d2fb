// Where a checkpoint left the competing values, as fragments/project_one.cypher takes it: each with its score at its last
// affirmation, which does not act on the others again. Needs `checkpoint`; leaves rows of `said`.

UNWIND range(0, size(coalesce(checkpoint.ids, [])) - 1) AS i
MATCH (b:Belief {tenant: $tenant, id: checkpoint.ids[i]})
WITH [
  b, checkpoint.affirmed[i], checkpoint.last_at[i], checkpoint.last_id[i], checkpoint.scores[i], 0.0,
  checkpoint.events_for[i] + checkpoint.events_against[i]
] AS said
