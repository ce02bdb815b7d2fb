// List the compressed turns of an episode.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $scopes      list    read scopes
//   $episode_id  string  episode id
// columns:
//   - id    string  turn id
//   - name  string  name of the speaker; null: none
//   - text  string  its text

MATCH (p:Episode {tenant: $tenant, id: $episode_id})<-[:OCCURRED_IN]-(t:Turn {tenant: $tenant})
WHERE p.scope IN $scopes AND t.compressed
RETURN t.id AS id, t.name AS name, t.text AS text
ORDER BY t.position
