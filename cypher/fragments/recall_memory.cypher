// Build the output of a found memory. Needs `card`, `trace` and `reasons`; leaves `of`, a map.

RETURN {trace: trace, reasons: reasons, item: card {
  .*, created_at: toString(card.created_at), recorded_at: toString(card.recorded_at), last_seen_at: toString(card.last_seen_at)
}} AS of
