// What was found, best first. Needs rows of `hit` (x of fragments/recall_scores, or of fragments/recall_beliefs) and `of`, a map of what a reader is shown of
// it, and `lost`, a list, and $valid and $fade; leaves `hits`, a list of maps, and `lost`.

CALL (hit) {
  OPTIONAL MATCH (g:Rating {tenant: $tenant, kind: CASE hit.kind WHEN 'memory' THEN 'Memory' ELSE 'Belief' END, id: hit.n.id})
  // include: fragments/faded.cypher
  RETURN g {.games, elo: elo, touched_at: toString(g.touched_at)} AS rating
}
WITH hit, of, lost, rating
ORDER BY hit.score DESC, hit.n.id
WITH collect({
  kind: hit.kind, item: of.item, score: hit.score, parts: hit.parts, vector_score: hit.vector_score, vector_rank: hit.vector_rank,
  bm25: hit.bm25, bm25_rank: hit.bm25_rank, reasons: of.reasons, trace: of.trace, initial: of.initial, projected: of.projected,
  verdict: of.verdict, belief: of.belief, ambiguous: of.ambiguous, last_at: of.last_at, lost: of.lost, head_ids: of.head_ids,
  rivals: of.rivals, found_by: of.found_by, vitality: of.vitality, rating: rating
}) AS hits, coalesce(collect(lost)[0], []) AS lost
