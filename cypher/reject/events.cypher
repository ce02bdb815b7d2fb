// Return every event by which values were rejected or unrejected, once for each value, in the order of recording.
// mode: read
// rows: many
// plan: NodeIndexSeek
// columns:
//   - id           string    event id
//   - scope        string    scope
//   - digest       string    digest of the value
//   - rejects      boolean   whether it rejects the value
//   - occurred_at  datetime  when it happened
//   - recorded_at  datetime  when it was recorded
//   - path         string    through which tenants it was imported: see rules/rejections.py; '' if it was recorded here

UNWIND ['REJECT', 'UNREJECT'] AS type
MATCH (e:Event)
USING INDEX e:Event(tenant, type, recorded_at)
WHERE e.tenant = $tenant AND e.type = type AND e.recorded_at IS NOT NULL
UNWIND e.value_digests AS digest
RETURN e.id AS id, e.scope AS scope, digest, type = 'REJECT' AS rejects, e.occurred_at AS occurred_at,
       e.recorded_at AS recorded_at, coalesce(e.imported_path, '') AS path
ORDER BY recorded_at, id, digest
