// List the memories without an event of their own scope, as another tool creates them. Paged by elementId(), because they
// may lack an id. Each page scans the memories of the store.
// mode: read
// rows: many
// allow: NodeByLabelScan
// params:
//   $after     string    node of the last row of the previous page; '' for the first page
//   $earliest  datetime  lower bound of valid times
//   $latest    datetime  upper bound of valid times
// columns:
//   - node             string    elementId() of the memory
//   - id               string    its id; null: none
//   - problem          string    name of the first invalid property; null: none
//   - scope            string    its scope, and the following properties; null if a property is invalid
//   - content          string    its text
//   - tags             list      its tags
//   - created_at       datetime  start of its valid time; null as its scope
//   - reinforce_count  integer   number of repetitions that the other tool counted; null: unknown

MATCH (m:Memory)
WHERE m.tenant = $tenant AND elementId(m) > $after
  AND NOT EXISTS { MATCH (m)<-[:REINFORCES]-(e:Event) WHERE e.tenant = $tenant AND e.scope = m.scope }
WITH m, elementId(m) AS node
ORDER BY node
LIMIT $limit
LET valid_id = m.id IS :: STRING NOT NULL AND 1 <= size(m.id) <= 200
LET problem = head([x IN [
  ['id', m.id IS NULL OR valid_id],
  ['scope', m.scope IS :: STRING NOT NULL AND 1 <= size(m.scope) <= 200],
  ['content', m.content IS :: STRING NOT NULL],
  ['created_at', m.created_at IS :: ZONED DATETIME NOT NULL AND $earliest <= m.created_at <= $latest],
  ['tags', m.tags IS :: LIST<STRING NOT NULL>],
  ['reinforce_count', m.reinforce_count IS :: INTEGER AND coalesce(m.reinforce_count >= 0, true)],
  ['status', coalesce(m.status = 'current', true)
    AND NOT EXISTS { MATCH (m)-[:SUPERSEDES]-(x:Memory) WHERE x.tenant = $tenant }]
] WHERE NOT coalesce(x[1], false) | x[0]])
LET fit = CASE WHEN problem IS NULL THEN m END
RETURN node, CASE WHEN valid_id THEN m.id END AS id, problem, fit.scope AS scope, fit.content AS content,
       CASE WHEN fit IS NOT NULL THEN coalesce(m.tags, []) END AS tags, fit.created_at AS created_at,
       fit.reinforce_count AS reinforce_count
ORDER BY node
