// Return memories by id. Memories outside the read scopes are left out.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  tenant name
//   $scopes  list    read scopes
//   $ids     list    memory ids
// columns:
//   - card  map  see fragments/memory_card.cypher

UNWIND $ids AS id
MATCH (m:Memory {tenant: $tenant, id: id})
WHERE m.scope IN $scopes
// include: fragments/chain_heads.cypher
// include: fragments/memory_card.cypher
RETURN card
