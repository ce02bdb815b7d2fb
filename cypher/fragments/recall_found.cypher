// Collect the found memories and turns, in any order. Needs rows of `hit` (x of fragments/recall_shortlist) and `of`, a
// map of its output fields; leaves `found`, a list of maps.
// needs: hit, of
// leaves: found

RETURN collect(hit {
  .kind, .n, .score, .parts, .vector_score, .vector_rank, .bm25, .bm25_rank, .trace, item: of.item
}) AS found
