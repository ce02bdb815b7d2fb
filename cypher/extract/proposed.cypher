// Proposals by id, as far as the reader can see them, in the order of the ids.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  tenant name
//   $scopes  list    read scopes
//   $ids     list    of PROPOSE events
// columns:
//   - proposal  map  see extract/proposals

UNWIND $ids AS id
MATCH (e:Event {tenant: $tenant, id: id})
WHERE e.type = 'PROPOSE' AND e.scope IN $scopes
// include: fragments/proposal.cypher
RETURN proposal
