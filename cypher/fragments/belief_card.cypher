// Build the card of `m`, a belief, without its belief value. Needs `m` and the results of fragments/belief_created_as_of.cypher
// and fragments/lineage_as_of.cypher; leaves `card`, a map. The wording is the current one.
// needs: m, status, created_at, head_ids
// leaves: card

LET card = m {
  .id, .scope, .statement, .subject, .predicate, .object, .recorded_at, depth: coalesce(m.depth, 0), status: status, created_at: created_at,
  head_ids: head_ids
}
