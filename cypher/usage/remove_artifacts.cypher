// Remove the artifacts of a page, by id, to which no entry of the log refers any more, with their ratings. Those with a
// rating above LOW are kept. An artifact is created again when it is returned or accessed.
// mode: write
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $medium  float    lower bound of the tier MEDIUM
//   $after   string   id of the last artifact of the previous page; '' for the first page
//   $limit   integer  maximum number of artifacts per page
// columns:
//   - after    string   id of the last artifact of the page
//   - removed  integer  number of artifacts removed

MATCH (n:Artifact)
WHERE n.tenant = $tenant AND n.id > $after
WITH n
ORDER BY n.tenant, n.id
LIMIT $limit
WITH collect(n.id) AS page, max(n.id) AS after
FILTER after IS NOT NULL
CALL (page) {
  UNWIND page AS id
  MATCH (n:Artifact {tenant: $tenant, id: id})
  WHERE NOT EXISTS { (n)<-[:RETURNED|ACCESSED|RATED]-(:Event {tenant: $tenant}) }
  OPTIONAL MATCH (g:Rating {tenant: $tenant, kind: 'Artifact', id: n.id})
  LET valid = $valid
  // include: fragments/rating_decayed.cypher
  FILTER coalesce(elo < $medium, true)
  // Writing before reading takes the write lock: a concurrent entry may refer to it by now.
  SET n.kind = n.kind
  WITH n, g
  FILTER NOT EXISTS { (n)<-[:RETURNED|ACCESSED|RATED]-(:Event {tenant: $tenant}) }
  DELETE g, n
  RETURN count(*) AS removed
}
RETURN after, removed
