// List episodes of a scope that are due for compression. These are old, of low importance, never accessed and never
// restored, and their text is longer than what would remain. Paged, oldest first.
// mode: read
// rows: many
// source: Engram, compressStaleEpisodes
// plan: NodeIndexSeek
// params:
//   $tenant      string    tenant name
//   $scope       string    scope name
//   $importance  float     exclusive upper bound of importance
//   $until       datetime  inclusive upper bound of occurred_at
//   $longest     integer   length in characters of the gist of a text without a summary
//   $after_at    datetime  time of the last row of the previous page; the earliest possible time for the first page
//   $after_id    string    id of the last row of the previous page; '' for the first page
//   $limit       integer   maximum number of rows per page
// columns:
//   - id           string    episode id
//   - occurred_at  datetime  time of the episode
//   - summary      string    original summary; null: none
//   - content      string    full text

MATCH (p:Episode)
WHERE p.tenant = $tenant AND p.scope = $scope AND p.occurred_at >= $after_at AND p.occurred_at <= $until
  AND (p.occurred_at > $after_at OR p.id > $after_id)
  AND p.importance < $importance
  AND size(p.content) > CASE WHEN trim(coalesce(p.summary, '')) = '' THEN $longest ELSE size(p.summary) END
  AND NOT EXISTS { (p)<-[:ACCESSED]-(:Event {tenant: $tenant}) }
  AND NOT EXISTS { (p)<-[:CONCERNS]-(:Event {tenant: $tenant, type: 'RESTORE'}) }
WITH p
// Sorting by the whole index key reads no more entries than the page needs.
ORDER BY p.tenant, p.scope, p.occurred_at, p.id
LIMIT $limit
RETURN p.id AS id, p.occurred_at AS occurred_at, p.summary AS summary, p.content AS content
