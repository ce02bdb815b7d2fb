// Return those of some ids that no visible item has which a search can return.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $ids  list  ids of memories, beliefs, turns, episodes or artifacts
// columns:
//   - id  string  an id of none

UNWIND $ids AS id
WITH DISTINCT id
FILTER NOT EXISTS {
  MATCH (n:Memory|Belief|Turn|Episode|Artifact {tenant: $tenant, id: id})
  WHERE n.scope IN $scopes
}
RETURN id
ORDER BY id
