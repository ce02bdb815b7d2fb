// Return the texts of the nodes to erase, those of an episode with its turns in order.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $memories  list     memory ids
//   $beliefs   list     belief ids
//   $episodes  list     episode ids
//   $turns     list     turn ids
//   $limit     integer  maximum number of texts
// columns:
//   - label  string  node label
//   - id     string  node id
//   - text   string  content, statement or text

CALL () {
  UNWIND $memories AS id
  MATCH (m:Memory {tenant: $tenant, id: id})
  RETURN 0 AS part, 'Memory' AS label, m.id AS id, 0 AS position, m.content AS text
UNION ALL
  UNWIND $beliefs AS id
  MATCH (b:Belief {tenant: $tenant, id: id})
  RETURN 1 AS part, 'Belief' AS label, b.id AS id, 0 AS position, b.statement AS text
UNION ALL
  UNWIND $episodes AS id
  MATCH (p:Episode {tenant: $tenant, id: id})
  RETURN 2 AS part, 'Episode' AS label, p.id AS id, 0 AS position, coalesce(p.summary, p.gist, p.content) AS text
UNION ALL
  // include: fragments/erased_turns.cypher
  RETURN 3 AS part, 'Turn' AS label, t.id AS id, t.position AS position, t.text AS text
}
WITH part, label, id, position, text
WHERE text <> ''
RETURN label, id, text
ORDER BY part, position, id
LIMIT $limit
