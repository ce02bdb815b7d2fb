// Build the card of `m`, a belief, without its belief value. The wording is the current one.
// needs: m, status, created_at, head_ids
// leaves: card (a map)

LET card = m {
  .id, .scope, .statement, .subject, .predicate, .object, .recorded_at, depth: coalesce(m.depth, 0), status: status, created_at: created_at,
  head_ids: head_ids
}
