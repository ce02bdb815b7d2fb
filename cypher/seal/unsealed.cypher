// List events to seal, by recording time. Run it after commit/lock.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $types  list      types of events that are sealed
//   $since  datetime  lower bound of the recording time, inclusive
//   $until  datetime  upper bound of the recording time, inclusive
//   $limit  integer   maximum number of events
// columns:
//   - event  map  id, recorded_at, properties, links: maps of type, label and key

UNWIND $types AS type
CALL (type) {
  MATCH (e:Event)
  USING INDEX e:Event(tenant, type, recorded_at)
  WHERE e.tenant = $tenant AND e.type = type AND e.recorded_at >= $since AND e.recorded_at <= $until
    AND NOT EXISTS { (e)<-[:SEALS]-(:Seal {tenant: $tenant}) }
  RETURN e
  ORDER BY e.tenant, e.type, e.recorded_at
  LIMIT $limit
}
WITH e
ORDER BY e.recorded_at, e.id
LIMIT $limit
// include: fragments/sealed_event.cypher
RETURN record AS event
