// Return memories by id as of (valid, known). The tags are the current ones.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $ids    list      memory ids
//   $valid  datetime  upper bound of valid time
//   $known  datetime  upper bound of known time
// columns:
//   - cards  list      see fragments/memory_card_as_of.cypher; and trust, its rank: see rules/trust.py
//   - now    datetime  server clock

CALL () {
  UNWIND $ids AS id
  MATCH (m:Memory {tenant: $tenant, id: id})
  WHERE m.scope IN $scopes
  // include: fragments/memory_dates_as_of.cypher
  // include: fragments/lineage_as_of.cypher
  // include: fragments/memory_card_as_of.cypher
  LET valid = $valid
  // include: fragments/memory_trust.cypher
  RETURN collect(card {.*, trust: trust}) AS cards
}
RETURN cards, datetime.realtime('Z') AS now
