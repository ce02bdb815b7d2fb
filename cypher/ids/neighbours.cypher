// Return the ids before and after each id, among the ids of its label in the tenant. A short id must differ from both.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $memories  list  ids of memories
//   $beliefs   list  ids of beliefs
//   $turns     list  ids of turns
//   $episodes  list  ids of episodes
// columns:
//   - id        string  one of these ids
//   - previous  string  greatest id below it; null: none
//   - next      string  least id above it; null: none

UNWIND $memories AS id
CALL (id) {
  OPTIONAL MATCH (n:Memory {tenant: $tenant})
  WHERE n.id < id
  // The order by both keys is that of the index, which then reads one entry.
  RETURN n.id AS previous ORDER BY n.tenant DESC, n.id DESC LIMIT 1
}
CALL (id) {
  OPTIONAL MATCH (n:Memory {tenant: $tenant})
  WHERE n.id > id
  RETURN n.id AS next ORDER BY n.tenant, n.id LIMIT 1
}
RETURN id, previous, next
UNION ALL
UNWIND $beliefs AS id
CALL (id) {
  OPTIONAL MATCH (n:Belief {tenant: $tenant})
  WHERE n.id < id
  RETURN n.id AS previous ORDER BY n.tenant DESC, n.id DESC LIMIT 1
}
CALL (id) {
  OPTIONAL MATCH (n:Belief {tenant: $tenant})
  WHERE n.id > id
  RETURN n.id AS next ORDER BY n.tenant, n.id LIMIT 1
}
RETURN id, previous, next
UNION ALL
UNWIND $turns AS id
CALL (id) {
  OPTIONAL MATCH (n:Turn {tenant: $tenant})
  WHERE n.id < id
  RETURN n.id AS previous ORDER BY n.tenant DESC, n.id DESC LIMIT 1
}
CALL (id) {
  OPTIONAL MATCH (n:Turn {tenant: $tenant})
  WHERE n.id > id
  RETURN n.id AS next ORDER BY n.tenant, n.id LIMIT 1
}
RETURN id, previous, next
UNION ALL
UNWIND $episodes AS id
CALL (id) {
  OPTIONAL MATCH (n:Episode {tenant: $tenant})
  WHERE n.id < id
  RETURN n.id AS previous ORDER BY n.tenant DESC, n.id DESC LIMIT 1
}
CALL (id) {
  OPTIONAL MATCH (n:Episode {tenant: $tenant})
  WHERE n.id > id
  RETURN n.id AS next ORDER BY n.tenant, n.id LIMIT 1
}
RETURN id, previous, next
