// Return the outcomes of clusters that were attempted before, by reply id.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $ids  list  reply ids
// columns:
//   - id        string   reply id
//   - done      boolean  whether its events were committed
//   - attempts  integer  number of failed attempts
//   - decided   string   outcome as JSON; null when there is none

UNWIND $ids AS id
MATCH (r:Reply {tenant: $tenant, id: id})
RETURN r.id AS id, coalesce(r.done, false) AS done, r.attempts AS attempts, r.decided AS decided
