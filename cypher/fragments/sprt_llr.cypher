// Compute the contribution of an event to the sequential test.
// needs: e
// leaves: heard (a map of id, at, polarity, episode, strength as counted, llr: its log-likelihood ratio, event)
// twin: oracles/sequential.py llr

WITH e, coalesce(e.strength, 0.5 + coalesce($weights[e.source_type], 0.0) * e.confidence / 2) AS s
WITH e, CASE WHEN s < 0.1 THEN 0.1 WHEN s > 0.9 THEN 0.9 ELSE s END AS s
WITH {
  id: e.id, at: e.occurred_at, polarity: e.polarity, episode: e.episode_id, strength: s,
  llr: e.polarity * log(s / (1 - s)), event: e
} AS heard
