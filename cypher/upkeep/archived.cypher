// Write-lock an episode and return what its archive holds. No row: nothing visible has this id.
// mode: write
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  whose
//   $scopes  list    scopes the reader can see
//   $id      string  of the episode
// columns:
//   - scope    string  of the episode
//   - archive  map     content, sha256; null: it is not compressed

MATCH (p:Episode {tenant: $tenant, id: $id})
WHERE p.scope IN $scopes
SET p.locked_at = datetime.realtime('Z')
WITH p
OPTIONAL MATCH (p)-[:ARCHIVED_AS]->(a:Archive {tenant: $tenant})
RETURN p.scope AS scope, a {.content, .sha256} AS archive
