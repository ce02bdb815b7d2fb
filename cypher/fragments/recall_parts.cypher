// What each list adds to a candidate's score. Needs what fragments/recall_points.cypher leaves, and $by, $mu, $pool; leaves a row for each
// candidate: `kind`, `n`, `vector_score`, `vector_rank`, `bm25`, `bm25_rank`, `meaning`, `words`, `recency` and `access`. Each list
// ranks its own candidates, and equal ones share a rank; blended lists are put on one scale. Twins: rules/fusion.py,
// rules/blending.py scaled

// One group per distinct score, best first; its members share the rank after all that are better.
WITH kind, list, points, collect([n, found]) AS equals
ORDER BY kind, list, points DESC
WITH kind, list, collect({points: points, equals: equals}) AS groups, sum(size(equals)) AS total
// A full list ends with what hardly fits any more; in one that is not full everything there is was found.
WITH *, CASE WHEN $by.score = 'blended' AND list = 'vector' AND total >= $pool AND groups[-1].points > 0 THEN groups[-1].points ELSE 0.0 END AS floor
WITH collect({kind: kind, list: list, groups: groups, floor: floor}) AS lists, max(CASE list WHEN 'vector' THEN groups[0].points END) AS nearest,
     max(CASE list WHEN 'words' THEN groups[0].points END) AS wordiest, max(CASE list WHEN 'access' THEN groups[0].points END) AS most
UNWIND lists AS l
WITH l, reduce(ranks = [1], group IN l.groups | ranks + (ranks[-1] + size(group.equals))) AS ranks,
     CASE l.list WHEN 'vector' THEN nearest WHEN 'words' THEN wordiest WHEN 'access' THEN most ELSE 1.0 END AS top
UNWIND range(0, size(l.groups) - 1) AS place
WITH l, ranks[place] AS rank, l.groups[place] AS group, $by[l.list] * CASE
  WHEN $by.score = 'fused' THEN 1.0 / ($by.k + ranks[place])
  WHEN l.groups[place].points <= l.floor THEN 0.0
  WHEN $by.score = 'blended' THEN (l.groups[place].points - l.floor) / (top - l.floor)
  ELSE l.groups[place].points
END AS part
UNWIND group.equals AS y
WITH l.kind AS kind, y[0] AS n,
     max(CASE l.list WHEN 'vector' THEN y[1] END) AS vector_score, max(CASE l.list WHEN 'vector' THEN rank END) AS vector_rank,
     max(CASE l.list WHEN 'words' THEN y[1] END) AS bm25, max(CASE l.list WHEN 'words' THEN rank END) AS bm25_rank,
     sum(CASE l.list WHEN 'vector' THEN part ELSE 0.0 END) AS meaning, sum(CASE l.list WHEN 'words' THEN part ELSE 0.0 END) AS words,
     sum(CASE l.list WHEN 'recency' THEN part ELSE 0.0 END) AS recency, sum(CASE l.list WHEN 'access' THEN part ELSE 0.0 END) AS access
FILTER $by.least IS NULL OR coalesce((2 * vector_score - 1 - $mu) / (1 - $mu) >= $by.least, false)
