// Append a seal of events. Run it after commit/lock.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// refers_to: ids Event
// params:
//   $id      string    its number, 12 digits
//   $until   datetime  recording time up to which every event is sealed
//   $ids     list      ids of the events, in order
//   $salts   list      random hex digits of each event
//   $leaves  list      salted digest of each event
//   $digest  string    digest of the previous seal and of this one
// columns:

CREATE (s:Seal {tenant: $tenant, id: $id, sealed_until: $until, ids: $ids, salts: $salts, leaves: $leaves, digest: $digest,
  recorded_at: datetime.truncate('microsecond', datetime.realtime('Z'))})
WITH s
UNWIND $ids AS id
MATCH (e:Event {tenant: $tenant, id: id})
CREATE (s)-[:SEALS]->(e)
WITH e
MATCH (:Tenant {tenant: $tenant})-[w:UNSEALED]->(e)
DELETE w
