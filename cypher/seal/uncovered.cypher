// List turns and episodes without a seal, which no event states. Run it after commit/lock.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $since  datetime  lower bound of the recording time, inclusive
//   $until  datetime  upper bound of the recording time, inclusive
//   $limit  integer   maximum number of nodes
//   $content  map  names of the covered properties by label: see integrity/contents.py
// columns:
//   - node  map  label, key, properties: pairs of name and value

MATCH (p:Episode)
WHERE p.tenant = $tenant AND p.scope IS NOT NULL AND p.recorded_at IS NOT NULL
WITH DISTINCT p.scope AS scope
CALL (scope) {
  MATCH (x:Episode)
  WHERE x.tenant = $tenant AND x.scope = scope AND x.recorded_at >= $since AND x.recorded_at <= $until
    AND NOT EXISTS { (x)<-[:SEALS]-(:Seal {tenant: $tenant}) }
  RETURN x
  LIMIT $limit
UNION ALL
  MATCH (x:Turn)
  WHERE x.tenant = $tenant AND x.scope = scope AND x.recorded_at >= $since AND x.recorded_at <= $until
    AND NOT EXISTS { (x)<-[:SEALS]-(:Seal {tenant: $tenant}) }
  RETURN x
  LIMIT $limit
}
WITH x
LIMIT $limit
// include: fragments/sealed_node.cypher
RETURN record AS node
