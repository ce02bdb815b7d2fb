// Update the ratings for one search. Needs `s` and `looks`; leaves `g`, one row per changed rating. A turn counts for its
// episode, once: by its greatest similarity, and opened if one of them was.
// needs: s, looks
// leaves: g

MATCH (s)-[hit:RETURNED]->(found)
OPTIONAL MATCH (found)-[:OCCURRED_IN]->(of:Episode {tenant: $tenant})
WITH s, CASE WHEN found:Turn THEN of ELSE found END AS n, max(hit.similarity) AS similarity
WHERE n IS NOT NULL
WITH s, n, similarity, any(look IN looks WHERE look.search = s.id AND look.kind = labels(n)[0] AND look.id = n.id) AS opened
WITH s, collect({n: n, similarity: similarity, opened: opened}) AS results
FILTER any(x IN results WHERE x.opened) AND any(x IN results WHERE NOT x.opened)
UNWIND results AS x
WITH s, x, x.n AS n
MERGE (was:Rating {tenant: $tenant, kind: labels(n)[0], id: n.id})
ON CREATE SET was.scope = n.scope, was.elo = $by.initial, was.games = 0, was.touched_at = s.occurred_at
WITH s, collect({
  n: n, kind: was.kind, id: was.id, opened: x.opened, elo: was.elo, games: was.games,
  k: CASE WHEN was.games < $by.established THEN $by.k_new ELSE $by.k_established END,
  part: CASE WHEN x.similarity <= $by.gate_similarity THEN $by.gate_factor ELSE 1.0 END
}) AS players
// All pairs use the ratings from before the search.
UNWIND players AS own
LET sign = CASE WHEN own.opened THEN 1.0 ELSE -1.0 END, others = [x IN players WHERE x.opened <> own.opened]
// By search, a search is one game, however many results it returned.
LET part = CASE WHEN NOT $by.by_search THEN 1.0 WHEN 2 * size(others) > size(players) THEN 1.0 / size(others) ELSE 1.0 / (size(players) - size(others)) END
LET change = reduce(sum = 0.0, x IN others |
  sum + part * sign * CASE WHEN own.opened THEN own.part ELSE x.part END * (own.k + x.k) / 2
        * (1 - 1 / (1 + 10 ^ (sign * (x.elo - own.elo) / $by.scale))))
WITH s, own, own.n AS n, own.elo + change AS after, own.games + CASE WHEN $by.by_search THEN 1 ELSE size(others) END AS games
MATCH (g:Rating {tenant: $tenant, kind: own.kind, id: own.id})
SET g.elo = after, g.games = games
CREATE (s)-[:RATED {before: own.elo, after: after}]->(n)
