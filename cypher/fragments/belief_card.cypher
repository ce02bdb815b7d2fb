// What a reader is shown of `m`, a belief, without what is believed of it. Needs `m` and what fragments/belief_seen.cypher and
// fragments/lineage_as_of.cypher leave; leaves `card`, a map. Its wording is that of now.

LET card = m {
  .id, .scope, .statement, .subject, .predicate, .object, .recorded_at, status: status, created_at: created_at,
  head_ids: head_ids
}
