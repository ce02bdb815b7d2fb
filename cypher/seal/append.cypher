// Append a seal of events and other nodes. Run it after commit/lock.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// refers_to: events Event
// params:
//   $id      string    its number, 12 digits
//   $until   datetime  recording time up to which every event is sealed
//   $ids     list      names of the entries, in order: see integrity/seals.py
//   $salts   list      random hex digits of each entry
//   $leaves  list      salted digests of each entry
//   $digest  string    digest of the previous seal and of this one
//   $events  list      ids of the events
//   $nodes   list      maps of the other nodes: label and key
// columns:

CREATE (s:Seal {tenant: $tenant, id: $id, sealed_until: $until, ids: $ids, salts: $salts, leaves: $leaves, digest: $digest,
  recorded_at: datetime.truncate('microsecond', datetime.realtime('Z'))})
WITH s
CALL (s) {
  UNWIND $events AS id
  MATCH (x:Event {tenant: $tenant, id: id})
  RETURN x
UNION ALL
  UNWIND $nodes AS row
  WITH row.label AS label, row.key AS key
  // include: fragments/node_by_key.cypher
  RETURN x
}
CREATE (s)-[:SEALS]->(x)
WITH x
MATCH (:Tenant {tenant: $tenant})-[w:UNSEALED]->(x)
DELETE w
