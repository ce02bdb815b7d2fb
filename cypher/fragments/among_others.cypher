// Convert an event to the input of fragments/project_one.cypher. Needs rows of `b`, `e` and `s`; leaves `said`.

WITH [b, e.polarity, e.occurred_at, e.id, s, s, 1] AS said
