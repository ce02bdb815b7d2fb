// Append a SAME_AS event: what a name stands for from now on, or, without `same_as`, that it stands for itself again.
// mode: write
// rows: none
// plan: MergeUniqueNode
// ids: event.id Event
// params:
//   $tenant     string  tenant name
//   $key        string  the name, folded
//   $name       string  as written
//   $other_key  string  what it stands for, folded; null: itself
//   $other      string  as written, or null
//   $event      map     the event's own fields, same_as among them
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
