// An event as fragments/project_many.cypher takes it. Needs rows of `b`, `e` and `l`; leaves `said`.

WITH [b, e.polarity, e.episode_id, CASE WHEN e.episode_id IS NULL THEN e.id END, e.occurred_at, l, 1, 1, false] AS said
