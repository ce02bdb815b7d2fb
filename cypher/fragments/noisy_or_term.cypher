// Compute the contribution of an event to a coexisting candidate.
// needs: e, valid, policy
// leaves: c (its confidence with decay, less than 1), l (w * ln[1 - c])
// twin: oracles/projection.py many

WITH *, CASE policy.decay_per_day WHEN 0.0 THEN e.confidence ELSE e.confidence * exp(-policy.decay_per_day * (
  (valid.epochSeconds - e.occurred_at.epochSeconds) * 1000000 + valid.microsecond - e.occurred_at.microsecond
) / 8.64e10) END AS faded
WITH *, CASE WHEN faded > 1 - 1e-9 THEN 1 - 1e-9 ELSE faded END AS c
WITH *, coalesce($weights[e.source_type], 0.0) * log(1 - c) AS l
