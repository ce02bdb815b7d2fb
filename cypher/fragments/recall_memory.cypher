// Build the output of a found memory. Needs `card` and `reasons`; leaves `of`, a map.
// needs: card, reasons
// leaves: of

RETURN {reasons: reasons, item: card {
  .*, created_at: toString(card.created_at), recorded_at: toString(card.recorded_at), last_seen_at: toString(card.last_seen_at)
}} AS of
