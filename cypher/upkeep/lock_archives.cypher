// Write-lock episodes and return their archives. Episodes outside the read scopes have no row.
// mode: write
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $ids  list  episode ids
// columns:
//   - id        string   episode id
//   - scope     string   scope of the episode
//   - archive   map      content, sha256; null: not compressed
//   - archived  boolean  whether the episode is archived
//   - turns     boolean  whether its turns are compressed

UNWIND $ids AS id
MATCH (p:Episode {tenant: $tenant, id: id})
WHERE p.scope IN $scopes
WITH p
// Sorting by id prevents deadlocks between concurrent writers.
ORDER BY p.id
SET p.locked_at = datetime.realtime('Z')
WITH p
// include: fragments/episode_archived.cypher
OPTIONAL MATCH (p)-[:ARCHIVED_AS]->(a:Archive {tenant: $tenant})
RETURN p.id AS id, p.scope AS scope, a {.content, .sha256} AS archive, put_away AS archived, coalesce(p.turns_compressed, false) AS turns
