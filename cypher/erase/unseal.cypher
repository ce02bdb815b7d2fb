// Remove the ids and salts of events from their seals, whose digests stay. Concerns events that are erased, or that lose
// a mention or a relationship; those that remain are marked for the next seal. Run it after commit/lock.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  tenant name
//   $events  list    ids of the events
//   $nodes   list    ids of memories, beliefs and episodes to be erased: of their events
//   $scope   string  scope whose names and predicates are erased: of their events; null: none
// columns:

MATCH (t:Tenant {tenant: $tenant})
CALL (t) {
  UNWIND $events AS id
  MATCH (e:Event {tenant: $tenant, id: id})
  RETURN e
UNION
  UNWIND $nodes AS id
  MATCH (:Memory|Belief|Episode {tenant: $tenant, id: id})<-[:REINFORCES|SUPPORTS|REFUTES|CONCERNS]-(e:Event {tenant: $tenant})
  RETURN e
UNION
  MATCH (n:Name|Predicate)<-[:CONCERNS|NAMES]-(e:Event {tenant: $tenant})
  WHERE n.tenant = $tenant AND n.key > '' AND n.scope = $scope
  RETURN e
}
MATCH (s:Seal {tenant: $tenant})-[r:SEALS]->(e)
CREATE (t)-[:UNSEALED]->(e)
DELETE r
WITH s, collect(e.id) AS ids
SET s.salts = [i IN range(0, size(s.ids) - 1) | CASE WHEN s.ids[i] IN ids THEN '' ELSE s.salts[i] END]
SET s.ids = [id IN s.ids | CASE WHEN id IN ids THEN '' ELSE id END]
