// Return those of some ids that no visible item has which a search can return.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  tenant name
//   $scopes  list    read scopes
//   $ids     list    ids of memories, beliefs, turns, episodes or artifacts
//   $labels  list    labels of which one must be the item's
// columns:
//   - id  string  an id of none

UNWIND $ids AS id
WITH DISTINCT id
FILTER NOT EXISTS {
  MATCH (n:Memory|Belief|Turn|Episode|Artifact {tenant: $tenant, id: id})
  WHERE n.scope IN $scopes AND labels(n)[0] IN $labels
}
RETURN id
ORDER BY id
