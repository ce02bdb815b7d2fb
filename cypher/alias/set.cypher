// Append a SAME_AS event, which makes a name an alias in the scope of the event. Without `same_as`, the name is no longer an
// alias there.
// mode: write
// rows: none
// plan: MergeUniqueNode
// writes_ids: event.id Event
// params:
//   $id         string  id of the name in the scope of the event
//   $key        string  name, folded
//   $name       string  name, as written
//   $other_id   string  id of the canonical name in that scope; null: the name is not an alias
//   $other_key  string  canonical name, folded, or null
//   $other      string  canonical name, as written, or null
//   $event      map     event properties, including same_as
// columns:

MERGE (n:Name {tenant: $tenant, id: $id})
ON CREATE SET n.key = $key, n.scope = $event.scope, n.name = $name
WITH n, $event AS event
// include: fragments/append_event.cypher
CREATE (e)-[:CONCERNS]->(n)
WITH e
UNWIND CASE WHEN $other_id IS NULL THEN [] ELSE [$other_id] END AS id
MERGE (other:Name {tenant: $tenant, id: id})
ON CREATE SET other.key = $other_key, other.scope = e.scope, other.name = $other
CREATE (e)-[:NAMES]->(other)
