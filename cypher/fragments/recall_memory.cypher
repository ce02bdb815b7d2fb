// Build the output of a found memory. Needs `card`; leaves `of`, a map.
// needs: card
// leaves: of

RETURN {item: card {
  .*, created_at: toString(card.created_at), recorded_at: toString(card.recorded_at), last_seen_at: toString(card.last_seen_at)
}} AS of
