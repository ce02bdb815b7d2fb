// Return proposals by id, in the order of the ids. Proposals outside the read scopes are left out.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $ids  list  ids of PROPOSE, PROPOSE_UPDATE and PROPOSE_RETRACT events
// columns:
//   - proposal  map  see extract/proposals

UNWIND $ids AS id
MATCH (e:Event {tenant: $tenant, id: id})
WHERE e.type IN ['PROPOSE', 'PROPOSE_UPDATE', 'PROPOSE_RETRACT'] AND e.scope IN $scopes
// include: fragments/proposal.cypher
RETURN proposal
