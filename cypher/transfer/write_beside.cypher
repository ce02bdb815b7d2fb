// Keep what an export has beside the memory, one kind of it. What is there stays, but for a policy that is older.
// mode: write
// rows: one
// plan: MergeUniqueNode
// ids: nodes.key part
// params:
//   $tenant  string  whose
//   $kind    string  Name, Predicate, Consolidation, Rating or Rater
//   $part    string  of ratings: the label of what is rated; else ''
//   $nodes   list    maps: key and properties
// columns:
//   - written  integer  nodes made

UNWIND $nodes AS row
CALL (row) {
  FILTER $kind = 'Name'
  MERGE (n:Name {tenant: $tenant, key: row.key})
  RETURN n, n.name IS NULL AS fresh
UNION ALL
  FILTER $kind = 'Predicate'
  MERGE (n:Predicate {tenant: $tenant, key: row.key})
  RETURN n, coalesce(row.properties.occurred_at > n.occurred_at OR (row.properties.occurred_at = n.occurred_at
    AND row.properties.event_id > n.event_id), true) AS fresh
UNION ALL
  FILTER $kind = 'Consolidation'
  MERGE (n:Consolidation {tenant: $tenant, scope: row.key})
  RETURN n, n.known IS NULL AND n.cursor IS NULL AS fresh
UNION ALL
  FILTER $kind = 'Rating'
  MERGE (n:Rating {tenant: $tenant, kind: $part, id: row.key})
  RETURN n, n.elo IS NULL AS fresh
UNION ALL
  FILTER $kind = 'Rater'
  MERGE (n:Rater {tenant: $tenant})
  RETURN n, n.ended IS NULL AS fresh
}
FILTER fresh
SET n += row.properties
RETURN count(n) AS written
