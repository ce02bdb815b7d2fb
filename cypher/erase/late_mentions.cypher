// Find events whose payload contains one of the given texts, among those recorded since a time or waiting for a seal: an
// import keeps former times.
// mode: read
// rows: one
// plan: NodeIndexSeek
// params:
//   $marks  list      texts to find
//   $types  list      all types of events
//   $since  datetime  lower bound of the recording time, inclusive
// columns:
//   - events  list  maps of the matching events: id, payload

CALL () {
  UNWIND $types AS type
  MATCH (e:Event)
  USING INDEX e:Event(tenant, type, recorded_at)
  WHERE e.tenant = $tenant AND e.type = type AND e.recorded_at >= $since
  RETURN e
UNION
  MATCH (:Tenant {tenant: $tenant})-[:UNSEALED]->(e:Event {tenant: $tenant})
  RETURN e
}
FILTER any(mark IN $marks WHERE e.payload CONTAINS mark)
RETURN collect(e {.id, .payload}) AS events
