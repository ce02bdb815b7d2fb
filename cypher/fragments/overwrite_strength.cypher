// Compute the weight of an event among competing candidates.
// needs: e
// leaves: s (w * c, with c less than 1)
// twin: oracles/projection.py one

WITH *, coalesce($weights[e.source_type], 0.0) * CASE WHEN e.confidence > 1 - 1e-9 THEN 1 - 1e-9 ELSE e.confidence END AS s
