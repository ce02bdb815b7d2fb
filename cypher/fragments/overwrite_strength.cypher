// Compute the weight of an event among competing candidates. Needs rows of `b` and `e`, $weights; adds `s` to each: w *
// c, with c less than 1.
// needs: e
// leaves: s
// twin: oracles/projection.py one

WITH *, coalesce($weights[e.source_type], 0.0) * CASE WHEN e.confidence > 1 - 1e-9 THEN 1 - 1e-9 ELSE e.confidence END AS s
