// Return the scopes of turns, episodes and events. A turn without an episode has no row.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $turns     list  turn ids
//   $episodes  list  episode ids
//   $events    list  event ids
// columns:
//   - label    string  Turn, Episode or Event
//   - id       string  id of the node
//   - scope    string  scope of the node; for a turn, scope of its episode
//   - episode  string  id of the episode of a turn; else null

MATCH (t:Turn {tenant: $tenant})
WHERE t.id IN $turns
MATCH (t)-[:OCCURRED_IN]->(p:Episode {tenant: $tenant})
RETURN 'Turn' AS label, t.id AS id, p.scope AS scope, p.id AS episode
UNION ALL
MATCH (p:Episode {tenant: $tenant})
WHERE p.id IN $episodes
RETURN 'Episode' AS label, p.id AS id, p.scope AS scope, null AS episode
UNION ALL
MATCH (e:Event {tenant: $tenant})
WHERE e.id IN $events
RETURN 'Event' AS label, e.id AS id, e.scope AS scope, null AS episode
