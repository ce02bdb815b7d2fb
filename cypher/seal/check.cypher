// Return a page of seals with the events that they cover.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $after  string   id of the last seal of the previous page; '' for the first page
//   $limit  integer  maximum number of seals
//   $content  map  names of the covered properties by label: see integrity/contents.py
// columns:
//   - seal    map   id, sealed_until, ids, salts, leaves, digest
//   - events  list  maps of the events: id, recorded_at, properties, links
//   - nodes   list  maps of the other nodes: label, key, properties (pairs of name and value), and newest, whether no later seal covers the node

MATCH (s:Seal) WHERE s.tenant = $tenant AND s.id > $after
WITH s
ORDER BY s.tenant, s.id
LIMIT $limit
CALL (s) {
  MATCH (s)-[:SEALS]->(e:Event {tenant: $tenant})
  // include: fragments/sealed_event.cypher
  RETURN collect(record) AS events
}
CALL (s) {
  MATCH (s)-[:SEALS]->(x {tenant: $tenant})
  WHERE NOT x:Event
  // include: fragments/sealed_node.cypher
  LET newest = NOT EXISTS { MATCH (x)<-[:SEALS]-(later:Seal {tenant: $tenant}) WHERE later.id > s.id }
  RETURN collect(record {.*, newest: newest}) AS nodes
}
// A removed property fails the check of the digest.
RETURN s {.id, sealed_until: coalesce(s.sealed_until, datetime({epochSeconds: 0})), ids: coalesce(s.ids, []),
          salts: coalesce(s.salts, []), leaves: coalesce(s.leaves, []), digest: coalesce(s.digest, '')} AS seal, events, nodes
ORDER BY s.id
