// Return the labels of those items which have one of some ids and are visible.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $scopes  list  read scopes
//   $ids     list  ids of memories, beliefs, turns, episodes or artifacts
//   $labels  list  labels of which one must be the item's
// columns:
//   - id     string  one of these ids
//   - label  string  the item's label

UNWIND $ids AS id
WITH DISTINCT id
MATCH (n:Memory|Belief|Turn|Episode|Artifact {tenant: $tenant, id: id})
WHERE n.scope IN $scopes AND labels(n)[0] IN $labels
RETURN id, labels(n)[0] AS label
ORDER BY id, label
