// What became of clusters before: of each id that was met, whether it was seen to, and how often it went wrong.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  tenant name
//   $ids     list    of replies
// columns:
//   - id        string   of the reply
//   - done      boolean  its events are there
//   - attempts  integer  that went wrong
//   - decided   string   what was written, as JSON; null when nothing was

UNWIND $ids AS id
MATCH (r:Reply {tenant: $tenant, id: id})
RETURN r.id AS id, coalesce(r.done, false) AS done, r.attempts AS attempts, r.decided AS decided
