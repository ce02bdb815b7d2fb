// List episodes of a scope that are due for compression. These are old, of low importance, never accessed, never found by
// a logged search and never restored. A text is longer than what would remain. Paged, oldest first.
// mode: read
// rows: many
// source: Engram, compressStaleEpisodes
// plan: NodeIndexSeek
// params:
//   $scope       string    scope name
//   $importance  float     exclusive upper bound of importance
//   $until       datetime  inclusive upper bound of occurred_at
//   $longest     integer   length in characters of the gist of a text without a summary
//   $after_at    datetime  time of the last row of the previous page; the earliest possible time for the first page
// columns:
//   - id           string    episode id
//   - occurred_at  datetime  time of the episode
//   - summary      string    original summary; null: none
//   - content      string    full text; null: a conversation
//   - turns        integer   number of its turns that compression has not considered yet; 0 if it has content
//   - characters   integer   length of the content; 0 for a conversation
//   - importance   float     importance, below $importance
//   - first        integer   position of the first of these turns; null: none
//   - last         integer   position of the last of these turns; null: none

MATCH (p:Episode)
WHERE p.tenant = $tenant AND p.scope = $scope AND p.occurred_at >= $after_at AND p.occurred_at <= $until
  AND (p.occurred_at > $after_at OR p.id > $after_id)
  AND p.importance < $importance
  AND NOT EXISTS { (p)<-[:ACCESSED|RETURNED]-(:Event {tenant: $tenant}) }
  AND NOT EXISTS { (p)<-[:OCCURRED_IN]-(:Turn {tenant: $tenant})<-[:ACCESSED|RETURNED]-(:Event {tenant: $tenant}) }
  AND NOT EXISTS { (p)<-[:CONCERNS]-(:Event {tenant: $tenant, type: 'RESTORE'}) }
CALL (p) {
  FILTER p.content IS NULL
  MATCH (p)<-[:OCCURRED_IN]-(t:Turn {tenant: $tenant})
  WHERE t.compressed IS NULL
  WITH count(t) AS turns, max(t.occurred_at) AS newest, min(t.position) AS first, max(t.position) AS last
  FILTER newest <= $until AND trim(coalesce(p.summary, '')) <> ''
  RETURN turns, 0 AS characters, first, last
UNION ALL
  FILTER p.content IS NOT NULL
  LET characters = size(p.content)
  FILTER characters > CASE WHEN trim(coalesce(p.summary, '')) = '' THEN $longest ELSE size(p.summary) END
  RETURN 0 AS turns, characters, null AS first, null AS last
}
WITH p, turns, characters, first, last
// Sorting by the whole index key reads no more entries than the page needs.
ORDER BY p.tenant, p.scope, p.occurred_at, p.id
LIMIT $limit
RETURN p.id AS id, p.occurred_at AS occurred_at, p.summary AS summary, p.content AS content, turns, characters,
       p.importance AS importance, first, last
