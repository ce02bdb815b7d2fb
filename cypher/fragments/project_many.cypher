// MANY: values coexist. Needs rows of `b` and `e`, and `valid`, `policy` from outside, $weights; leaves `b` and `projected`, a
// map, for each belief. An episode says what its strongest event says, of each polarity; episodes are joined by noisy-or.
// Twin: rules/projection.py many

WITH b, e, e.occurred_at.epochSeconds * 1000000 + e.occurred_at.microsecond AS us
WITH b, e, CASE policy.decay_per_day WHEN 0.0 THEN e.confidence ELSE e.confidence * exp(
  -policy.decay_per_day * (valid.epochSeconds * 1000000 + valid.microsecond - us) / 8.64e10
) END AS c
WITH b, e.polarity AS polarity, e.episode_id AS episode, CASE WHEN e.episode_id IS NULL THEN e.id END AS alone,
     count(*) AS events, max(e.occurred_at) AS at,
     min($weights[e.source_type] * log(1 - CASE WHEN c > 1 - 1e-9 THEN 1 - 1e-9 ELSE c END)) AS l
WITH b, sum(events) AS events, max(CASE polarity WHEN 1 THEN at END) AS last_at,
     sum(CASE polarity WHEN 1 THEN l ELSE 0.0 END) AS l_for,
     sum(CASE polarity WHEN 1 THEN 0.0 ELSE l END) AS l_against,
     count(CASE polarity WHEN 1 THEN 1 END) AS supporting,
     count(CASE polarity WHEN -1 THEN 1 END) AS refuting
WITH *, 1 - exp(l_for) AS positive, 1 - exp(l_against) AS negative
WITH *, CASE
  WHEN policy.combine = 'log_odds' THEN 1 / (1 + exp(l_for - l_against))
  WHEN positive > negative THEN positive - negative
  ELSE 0.0
END AS belief
WITH b, {
  belief: CASE WHEN belief > 1 - 1e-9 THEN 1 - 1e-9 ELSE belief END,
  positive: positive, negative: negative, log_positive: l_for, log_negative: l_against,
  supporting_episodes: supporting, refuting_episodes: refuting,
  contested: positive > 0.5 AND negative > 0.5, last_at: last_at, events: events
} AS projected
