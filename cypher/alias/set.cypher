// Append a SAME_AS event, which makes a name an alias. Without `same_as`, the name is no longer an alias.
// mode: write
// rows: none
// plan: MergeUniqueNode
// writes_ids: event.id Event
// params:
//   $key        string  name, folded
//   $name       string  name, as written
//   $other_key  string  canonical name, folded; null: the name is not an alias
//   $other      string  canonical name, as written, or null
//   $event      map     event properties, including same_as
// columns:

MERGE (n:Name {tenant: $tenant, key: $key})
ON CREATE SET n.scope = 'global', n.name = $name
WITH n, $event AS event
// include: fragments/append_event.cypher
CREATE (e)-[:CONCERNS]->(n)
WITH e
UNWIND CASE WHEN $other_key IS NULL THEN [] ELSE [$other_key] END AS key
MERGE (other:Name {tenant: $tenant, key: key})
ON CREATE SET other.scope = 'global', other.name = $other
CREATE (e)-[:NAMES]->(other)
