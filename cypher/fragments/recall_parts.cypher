// Compute the contribution of each list to the score of a candidate. Needs the results of
// fragments/recall_points.cypher, and $scoring, $mu, $pool; leaves one row per candidate: `x`, a map (kind, n, trace,
// vector_score, vector_rank, bm25, bm25_rank, meaning, words, late, late_context, recency, access). Each list ranks its own candidates,
// with equal ranks for equal scores; blended lists are normalised to one scale.
// needs: x, list, found, points
// leaves: x, vector_score, vector_rank, bm25, bm25_rank, meaning, words, late, late_context, recency, access
// twin: oracles/fusion.py, oracles/blending.py scaled

WITH x, list, found, points
ORDER BY x.kind, list, points DESC
WITH x.kind AS kind, list, collect({x: x, found: found}) AS ranked, collect(points) AS points
// A full list ends with weak candidates, so its last score is the floor. A list that is not full contains every match.
WITH list, ranked, points, CASE WHEN $scoring.score = 'blended' AND list IN ['vector', 'late', 'late_context'] AND size(points) >= $pool AND points[-1] > 0 THEN points[-1] ELSE 0.0 END AS floor
WITH collect({list: list, ranked: ranked, points: points, floor: floor}) AS lists
UNWIND lists AS l
WITH l.list AS list, l.ranked AS ranked, l.points AS points, l.floor AS floor, $scoring[l.list] AS weight,
     CASE l.list WHEN 'recency' THEN 1.0 ELSE coll.max([x IN lists WHERE x.list = l.list | x.points[0]]) END AS top
UNWIND range(0, size(points) - 1) AS place
// The first of equal scores is looked for only if there are any: the search of every place takes a fifth of the query.
WITH list, ranked[place] AS y, points[place] AS own, floor, weight, top,
     1 + CASE WHEN place > 0 AND points[place] = points[place - 1] THEN coll.indexOf(points, points[place]) ELSE place END AS rank
WITH y.x.n AS n, list, y, rank, weight * CASE
  WHEN $scoring.score = 'fused' THEN 1.0 / ($scoring.k + rank)
  WHEN own <= floor THEN 0.0
  WHEN $scoring.score = 'blended' THEN (own - floor) / (top - floor)
  ELSE own
END AS part
WITH n, head(collect(y.x)) AS x,
     max(CASE list WHEN 'vector' THEN y.found END) AS vector_score, max(CASE list WHEN 'vector' THEN rank END) AS vector_rank,
     max(CASE list WHEN 'words' THEN y.found END) AS bm25, max(CASE list WHEN 'words' THEN rank END) AS bm25_rank,
     sum(CASE list WHEN 'vector' THEN part ELSE 0.0 END) AS meaning, sum(CASE list WHEN 'words' THEN part ELSE 0.0 END) AS words,
     sum(CASE list WHEN 'late' THEN part ELSE 0.0 END) AS late, sum(CASE list WHEN 'late_context' THEN part ELSE 0.0 END) AS late_context,
     sum(CASE list WHEN 'recency' THEN part ELSE 0.0 END) AS recency, sum(CASE list WHEN 'access' THEN part ELSE 0.0 END) AS access
FILTER $scoring.min_similarity IS NULL OR coalesce((2 * vector_score - 1 - $mu) / (1 - $mu) >= $scoring.min_similarity, false)
