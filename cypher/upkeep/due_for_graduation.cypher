// List episodes of a scope that are due for a line in a digest. These are important episodes that are old or accessed
// often, most important first, then oldest.
// mode: read
// rows: many
// source: Engram, graduateEpisodes
// plan: NodeIndexSeek
// params:
//   $scope       string    scope name
//   $scopes      list      scopes whose accesses count
//   $file        string    file name of the digest
//   $importance  float     minimum importance, in [0, 1]
//   $accesses    integer   number of accesses that suffices at any age
//   $until       datetime  episodes that occurred up to this time need no accesses
//   $skipped     list      ids of episodes that are not listed
// columns:
//   - id           string    episode id
//   - occurred_at  datetime  time of the episode
//   - importance   float     importance, at least $importance
//   - looks        integer   number of accesses
//   - session_id   string    session id of a conversation; else null
//   - summary      string    original summary; null: none
//   - content      string    original content; null: none, or compressed
//   - gist         string    text left by compression; null: not compressed, or it has a summary

MATCH (p:Episode)
WHERE p.tenant = $tenant AND p.scope = $scope AND p.occurred_at IS NOT NULL AND p.importance >= $importance
  AND NOT p.id IN $skipped
  AND NOT EXISTS { (p)<-[:CONCERNS]-(:Event {tenant: $tenant, type: 'GRADUATE', artifact_ref: $file}) }
CALL (p) {
  MATCH (p)<-[:ACCESSED]-(e:Event)
  WHERE e.scope IN $scopes
  RETURN count(e) AS looks
}
FILTER p.occurred_at <= $until OR looks >= $accesses
WITH p, looks
ORDER BY p.importance DESC, p.occurred_at, p.id
LIMIT $limit
RETURN p.id AS id, p.occurred_at AS occurred_at, p.importance AS importance, looks, p.session_id AS session_id,
       p.summary AS summary, p.content AS content, p.gist AS gist
