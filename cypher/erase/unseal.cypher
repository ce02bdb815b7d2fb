// Remove the names and salts of events and other nodes from their seals, whose digests stay. Concerns events that are
// erased, or that lose a mention or a relationship, and the nodes that are erased or stated by these events; those that
// remain are marked for the next seal. Run it after commit/lock.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// allow: CartesianProduct
// params:
//   $events  list    ids of the events
//   $nodes   list    ids of memories, beliefs, episodes and turns to be erased: with their events and turns
//   $scope   string  scope whose names, predicates and tombstones of rejected values are erased: with their events; null: none
// columns:

// CartesianProduct: the tenant is a single row.
MATCH (t:Tenant {tenant: $tenant})
CALL () {
  UNWIND $events AS id
  MATCH (x:Event {tenant: $tenant, id: id})
  RETURN x
UNION
  UNWIND $events AS id
  MATCH (:Event {tenant: $tenant, id: id})-[:REINFORCES|SUPPORTS|REFUTES|CONCERNS|NAMES]->(x:Memory|Belief|Episode|Name|Predicate|Rejection)
  WHERE x.tenant = $tenant
  RETURN x
UNION
  UNWIND $nodes AS id
  MATCH (:Memory|Belief|Episode {tenant: $tenant, id: id})<-[:REINFORCES|SUPPORTS|REFUTES|CONCERNS]-(x:Event {tenant: $tenant})
  RETURN x
UNION
  UNWIND $nodes AS id
  MATCH (x:Memory|Belief|Episode|Turn {tenant: $tenant, id: id})
  RETURN x
UNION
  UNWIND $nodes AS id
  MATCH (x:Memory {tenant: $tenant})-[:CLAIMS]->(:Belief {tenant: $tenant, id: id})
  RETURN x
UNION
  UNWIND $nodes AS id
  MATCH (x:Turn {tenant: $tenant})-[:OCCURRED_IN]->(:Episode {tenant: $tenant, id: id})
  RETURN x
UNION
  MATCH (n:Name|Predicate|Rejection)<-[:CONCERNS|NAMES]-(x:Event {tenant: $tenant})
  WHERE n.tenant = $tenant AND n.id > '' AND n.scope = $scope
  RETURN x
UNION
  MATCH (x:Name|Predicate|Rejection)
  WHERE x.tenant = $tenant AND x.id > '' AND x.scope = $scope
  RETURN x
}
MATCH (s:Seal {tenant: $tenant})-[r:SEALS]->(x)
MERGE (t)-[:UNSEALED]->(x)
DELETE r
WITH s, collect(CASE
  WHEN x:Event AND NOT x.id STARTS WITH '~' THEN x.id
  ELSE '~' + labels(x)[0] + ' ' + x.id
END) AS names
SET s.salts = [i IN range(0, size(s.ids) - 1) | CASE WHEN s.ids[i] IN names THEN '' ELSE s.salts[i] END]
SET s.ids = [id IN s.ids | CASE
  WHEN NOT id IN names THEN id
  WHEN id STARTS WITH '~' AND NOT id STARTS WITH '~Event ' THEN '~'
  ELSE ''
END]
