// Convert an event to the input of fragments/project_many.cypher.
// needs: b, e, l, covered (whether a checkpoint includes it)
// leaves: b, polarity, episode, alone, at, l, events, episodes, covered

WITH b, e.polarity AS polarity, e.episode_id AS episode, CASE WHEN e.episode_id IS NULL THEN e.id END AS alone,
     e.occurred_at AS at, l, CASE WHEN covered THEN 0 ELSE 1 END AS events, 1 AS episodes, covered
