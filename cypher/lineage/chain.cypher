// Return the supersession chain of a memory. Includes predecessors and successors at any distance, and the edges
// between them.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $id         string  id of any node of the chain
// columns:
//   - card   map   see fragments/memory_card.cypher; head_ids is empty
//   - links  list  maps of the incoming SUPERSEDES edges: newer_id, event_id, occurred_at, recorded_at, in_force

MATCH (start:Memory {tenant: $tenant, id: $id})
WHERE start.scope IN $scopes
MATCH (start)-[:SUPERSEDES*0..]-(m)
WHERE m.tenant = $tenant AND m.scope IN $scopes
// DISTINCT lets the server visit each memory once, regardless of the number of paths to it.
WITH DISTINCT m
// Walking from each node to its ends takes quadratic time: rules/claims.py computes them from the links.
LET head_ids = []
// include: fragments/memory_card.cypher
RETURN card,
       [(newer:Memory)-[s:SUPERSEDES]->(m) WHERE newer.tenant = $tenant AND newer.scope IN $scopes |
         s {.event_id, .occurred_at, .recorded_at, .in_force, newer_id: newer.id}] AS links
ORDER BY card.created_at, card.id
