// Compute the belief of coexisting candidates (MANY). Per polarity, an episode contributes its strongest evidence;
// episodes are combined by noisy-or. If an episode has newer evidence, its checkpointed contribution is subtracted.
// needs: b, polarity, episode (or null), alone (the event id if it has no episode), at, l, events, episodes, covered
// (whether a checkpoint includes it), policy
// leaves: b, projected (a map, for each belief)
// twin: oracles/projection.py many

WITH b, polarity, episode, alone, sum(events) AS events, max(episodes) AS episodes, min(l) AS l,
     min(CASE WHEN covered THEN l END) AS had, max(at) AS at
WITH b, polarity, events, at, l - coalesce(had, 0.0) AS l, episodes - CASE WHEN had IS NULL THEN 0 ELSE 1 END AS episodes
// A floating-point sum depends on the order of its terms, so they are sorted to be independent of the order of arrival.
ORDER BY l
WITH b, sum(CASE polarity WHEN 1 THEN events ELSE 0 END) AS events_for,
     sum(CASE polarity WHEN 1 THEN 0 ELSE events END) AS events_against,
     max(CASE polarity WHEN 1 THEN at END) AS last_at,
     sum(CASE polarity WHEN 1 THEN l ELSE 0.0 END) AS l_for,
     sum(CASE polarity WHEN 1 THEN 0.0 ELSE l END) AS l_against,
     sum(CASE polarity WHEN 1 THEN episodes ELSE 0 END) AS supporting,
     sum(CASE polarity WHEN 1 THEN 0 ELSE episodes END) AS refuting
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
  contested: positive > 0.5 AND negative > 0.5, last_at: last_at,
  events: events_for + events_against, events_for: events_for, events_against: events_against
} AS projected
