// Episodes of a scope that are to have a line in a digest and have none yet: important ones that are old or were looked at often;
// the most important first, then the oldest.
// mode: read
// rows: many
// source: Engram, graduateEpisodes
// plan: NodeIndexSeek
// params:
//   $tenant      string    tenant name
//   $scope       string    scope name
//   $scopes      list      scopes whose looks count
//   $file        string    name of the digest's file
//   $importance  float     least importance, in [0, 1]
//   $accesses    integer   so many looks are enough at any age
//   $until       datetime  what occurred by then needs none
//   $limit       integer   maximum number of rows
// columns:
//   - id           string    episode id
//   - occurred_at  datetime  when it took place
//   - session_id   string    of a conversation; else null
//   - summary      string    as it was told; null: none
//   - content      string    as it was told; null: none, or compressed
//   - gist         string    what compression left of it; null: it is whole, or has a summary

MATCH (p:Episode)
WHERE p.tenant = $tenant AND p.scope = $scope AND p.occurred_at IS NOT NULL AND p.importance >= $importance
  AND NOT EXISTS { (p)<-[:CONCERNS]-(:Event {tenant: $tenant, type: 'GRADUATE', artifact_ref: $file}) }
CALL (p) {
  MATCH (p)<-[:ACCESSED]-(e:Event)
  WHERE e.scope IN $scopes
  RETURN count(e) AS looks
}
FILTER p.occurred_at <= $until OR looks >= $accesses
WITH p
ORDER BY p.importance DESC, p.occurred_at, p.id
LIMIT $limit
RETURN p.id AS id, p.occurred_at AS occurred_at, p.session_id AS session_id,
       p.summary AS summary, p.content AS content, p.gist AS gist
