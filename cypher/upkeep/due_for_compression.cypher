// List episodes of a scope that are due for compression. These are old, of low importance, never accessed and never
// restored, and their text, or that of their turns, is longer than what would remain. Paged, oldest first.
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
//   - content      string    full text; null: a conversation
//   - turns        integer   number of its turns that are not compressed; 0 if it has content
//   - characters   integer   length of the content, or of these turns
//   - importance   float     importance, below $importance
//   - last         integer   position of the last of these turns; null: none

MATCH (p:Episode)
WHERE p.tenant = $tenant AND p.scope = $scope AND p.occurred_at >= $after_at AND p.occurred_at <= $until
  AND (p.occurred_at > $after_at OR p.id > $after_id)
  AND p.importance < $importance
  AND NOT EXISTS { (p)<-[:ACCESSED]-(:Event {tenant: $tenant}) }
  AND NOT EXISTS { (p)<-[:CONCERNS]-(:Event {tenant: $tenant, type: 'RESTORE'}) }
CALL (p) {
  FILTER p.content IS NULL
  MATCH (p)<-[:OCCURRED_IN]-(t:Turn {tenant: $tenant})
  WHERE t.compressed IS NULL
  WITH count(t) AS turns, sum(size(t.text)) AS characters, max(t.occurred_at) AS newest, max(t.position) AS last
  FILTER newest <= $until
  RETURN turns, characters, last
UNION ALL
  FILTER p.content IS NOT NULL
  RETURN 0 AS turns, size(p.content) AS characters, null AS last
}
FILTER characters > CASE WHEN trim(coalesce(p.summary, '')) = '' THEN $longest ELSE size(p.summary) END
  AND (turns = 0 OR trim(coalesce(p.summary, '')) <> '')
WITH p, turns, characters, last
// Sorting by the whole index key reads no more entries than the page needs.
ORDER BY p.tenant, p.scope, p.occurred_at, p.id
LIMIT $limit
RETURN p.id AS id, p.occurred_at AS occurred_at, p.summary AS summary, p.content AS content, turns, characters,
       p.importance AS importance, last
