// The memories and turns that were found, in any order. Needs rows of `hit` (x of fragments/recall_shortlist) and `of`, a map of what
// a reader is shown of it; leaves `found`, a list of maps.

RETURN collect(hit {
  .kind, .score, .parts, .vector_score, .vector_rank, .bm25, .bm25_rank, item: of.item, reasons: of.reasons, trace: of.trace
}) AS found
