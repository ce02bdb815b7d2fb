// Every memory or belief that took the place of another, at any remove from one of them, in one picture.
// Between each and what it replaced stand the edge and the event that says so; the newest come first.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string   tenant name
//   $scopes  list     scopes to look in
//   $id      string   of a memory or a belief
//   $skip    integer  of them to pass over, the newest
//   $limit   integer  of them at most, and of what each replaced
// columns:
//   - item      node     a memory or a belief
//   - replaced  list     paths to what it took the place of
//   - events    list     paths through the events that say so
//   - items     integer  how many there are, drawn or not

MATCH (start:Memory|Belief {tenant: $tenant, id: $id})
WHERE start.scope IN $scopes
MATCH (start)-[:SUPERSEDES*0..]-(m)
WHERE m.tenant = $tenant AND m.scope IN $scopes
// DISTINCT here lets the server walk each once, however many ways lead to it.
WITH DISTINCT m
ORDER BY m.created_at DESC, m.id
WITH collect(m) AS found
WITH found, size(found) AS items
UNWIND found[$skip..$skip + $limit] AS n
CALL (n) {
  MATCH way = (n)-[s:SUPERSEDES]->(older)
  WHERE older.scope IN $scopes
  WITH n, way, s, older
  ORDER BY s.occurred_at DESC, s.event_id DESC, older.id
  LIMIT $limit
  OPTIONAL MATCH said = (n)<-[:CONCERNS]-(e:Event {tenant: $tenant, id: s.event_id})-[:CONCERNS]->(older)
  RETURN collect(way) AS replaced, collect(said) AS events
}
RETURN n AS item, replaced, events, items
