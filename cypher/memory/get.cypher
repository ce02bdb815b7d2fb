// Return memories by id. Memories outside the read scopes are left out.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $ids    list      memory ids
//   $valid  datetime  upper bound of valid time
//   $known  datetime  upper bound of known time
// columns:
//   - card  map  see fragments/memory_card.cypher; and trust, its rank: see rules/trust.py

UNWIND $ids AS id
MATCH (m:Memory {tenant: $tenant, id: id})
WHERE m.scope IN $scopes
// include: fragments/chain_heads.cypher
// include: fragments/memory_card.cypher
LET valid = $valid
// include: fragments/memory_trust.cypher
RETURN card {.*, trust: trust} AS card
