// Ends of sessions that stand in the log where an export has another one.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant  string  whose
//   $ends    list    maps of an export's ends of sessions: id and position
// columns:
//   - id  string  of an end that the export has

UNWIND $ends AS row
MATCH (e:Event {tenant: $tenant, position: row.position})
USING INDEX SEEK e:Event(tenant, position)
WHERE e.id <> row.id
RETURN row.id AS id
