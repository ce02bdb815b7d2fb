// Match passages without a belief: a page in order of recording, or all passages with $ids. A passage is a turn of a
// person, or an episode without turns.
// leaves: p

CALL () {
  MATCH (p:Turn)
  WHERE p.tenant = $tenant AND p.scope = $scope AND p.recorded_at > CASE WHEN $ids IS NULL AND $label = 'Turn' THEN $since END AND p.recorded_at <= $known
    AND (p.recorded_at > $after_at OR (p.recorded_at = $after_at AND p.id > $after_id))
    AND p.embedding IS NOT NULL AND toLower(p.role) IN $human_roles
    AND NOT EXISTS { (p)<-[:QUOTES]-(x:Event {tenant: $tenant, source: 'consolidation'}) WHERE x.recorded_at <= $known }
  RETURN p
  ORDER BY p.recorded_at, p.id
  LIMIT $limit
UNION ALL
  MATCH (p:Episode)
  WHERE p.tenant = $tenant AND p.scope = $scope AND p.recorded_at > CASE WHEN $ids IS NULL AND $label = 'Episode' THEN $since END AND p.recorded_at <= $known
    AND (p.recorded_at > $after_at OR (p.recorded_at = $after_at AND p.id > $after_id))
    AND p.embedding IS NOT NULL AND NOT EXISTS { (p)<-[:OCCURRED_IN]-(:Turn {tenant: $tenant}) }
    AND NOT EXISTS { (p)<-[:OCCURRED_IN]-(x:Event {tenant: $tenant, source: 'consolidation'}) WHERE x.recorded_at <= $known }
  RETURN p
  ORDER BY p.recorded_at, p.id
  LIMIT $limit
UNION ALL
  UNWIND $ids AS id
  MATCH (p:Turn|Episode {tenant: $tenant, id: id})
  RETURN p
}
