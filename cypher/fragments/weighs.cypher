// How much an event weighs among values that compete. Needs rows of `b` and `e`, $weights; adds to each `s`: w * c, with c less
// than 1. Twin: rules/projection.py one

WITH *, $weights[e.source_type] * CASE WHEN e.confidence > 1 - 1e-9 THEN 1 - 1e-9 ELSE e.confidence END AS s
