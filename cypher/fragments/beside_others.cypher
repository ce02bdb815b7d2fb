// Convert an event to the input of fragments/project_many.cypher. Needs rows of `b`, `e`, `l` and `covered`, whether a
// checkpoint includes it; leaves `said`.

WITH [
  b, e.polarity, e.episode_id, CASE WHEN e.episode_id IS NULL THEN e.id END, e.occurred_at, l,
  CASE WHEN covered THEN 0 ELSE 1 END, 1, covered
] AS said
