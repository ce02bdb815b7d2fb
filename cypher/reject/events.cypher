// Return every event by which a value was rejected or unrejected, in the order of recording.
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

UNWIND ['REJECT', 'UNREJECT'] AS type
MATCH (e:Event)
USING INDEX e:Event(tenant, type, recorded_at)
WHERE e.tenant = $tenant AND e.type = type AND e.recorded_at IS NOT NULL AND e.content_hash IS NOT NULL
RETURN e.id AS id, e.scope AS scope, e.content_hash AS digest, type = 'REJECT' AS rejects, e.occurred_at AS occurred_at,
       e.recorded_at AS recorded_at
ORDER BY recorded_at, id
