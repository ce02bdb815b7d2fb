// Return the scope and the texts of a node to be erased.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $scopes  list    read scopes
//   $label   string  Memory, Belief, Episode or Turn
//   $id      string  id of the node
// columns:
//   - scope       string   scope of the node
//   - texts       list     texts of the node: content, statement, summary, text of a compressed episode, text of a turn
//   - episode_id  string   id of a turn's episode; else null
//   - is_given    boolean  whether a caller gave the summary of that episode

MATCH (n:Memory|Belief|Episode|Turn {tenant: $tenant, id: $id})
WHERE $label IN labels(n) AND n.scope IN $scopes
CALL (n) {
  OPTIONAL MATCH (n)-[:OCCURRED_IN]->(p:Episode {tenant: $tenant})
  // include: fragments/stated_fields.cypher
  RETURN 'summary' IN stated AS is_given
}
RETURN n.scope AS scope,
       [x IN [n.content, n.statement, n.summary, n.text] WHERE x IS NOT NULL] AS texts,
       n.episode_id AS episode_id,
       is_given
