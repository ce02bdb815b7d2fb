// Return the state of episodes for `episode/summarise`: by id, or a page of those of a scope that are to be summarised.
// These have turns that their summary does not cover, or one by another method, or no keys for full-text search.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $ids     list     episode ids; null: a page
//   $method  string   name of the method that must have summarised it; null: any
//   $after   string   page only: id of the last row of the previous page; '' for the first page
//   $limit   integer  page only: maximum number of rows
// columns:
//   - id           string    episode id
//   - occurred_at  datetime  time of the episode
//   - stated       list      names of summary, entities and importance that a caller gave
//   - summary      string    its summary; null: none
//   - entities     list      its entities
//   - importance   float     its importance
//   - covered      integer   number of turns that the summary covers; null: none
//   - method       string    name of the method that summarised it; null: none
//   - turns        integer   number of its turns

CALL () {
  MATCH (p:Episode)
  USING INDEX p:Episode(tenant, id)
  WHERE p.tenant = $tenant AND p.id > CASE WHEN $ids IS NULL THEN $after END AND p.scope = $scope
  LET turns = COUNT { (:Turn {tenant: $tenant})-[:OCCURRED_IN]->(p) }
  FILTER p.tenant_key IS NULL OR coalesce(p.summarised_turns, 0) <> turns OR (turns > 0 AND $method IS NOT NULL AND p.summarised_by <> $method)
  RETURN p, turns
  ORDER BY p.id
  LIMIT $limit
UNION ALL
  UNWIND $ids AS id
  MATCH (p:Episode {tenant: $tenant, id: id})
  WHERE p.scope = $scope
  RETURN p, COUNT { (:Turn {tenant: $tenant})-[:OCCURRED_IN]->(p) } AS turns
}
// include: fragments/stated_fields.cypher
RETURN p.id AS id, p.occurred_at AS occurred_at, stated, p.summary AS summary, p.entities AS entities, p.importance AS importance,
       p.summarised_turns AS covered, p.summarised_by AS method, turns
ORDER BY id
