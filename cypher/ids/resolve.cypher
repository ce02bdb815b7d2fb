// Return the ids in the read scopes that begin with each prefix.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $memories  list     prefixes of ids of memories
//   $beliefs   list     prefixes of ids of beliefs
//   $turns     list     prefixes of ids of turns
//   $episodes  list     prefixes of ids of episodes
//   $events    list     prefixes of ids of events
//   $top       integer  maximum number of ids for each prefix
// columns:
//   - prefix  string  one of these prefixes
//   - id      string  an id that begins with it

UNWIND $memories AS prefix
CALL (prefix) {
  MATCH (n:Memory {tenant: $tenant})
  WHERE n.id STARTS WITH prefix AND n.scope IN $scopes
  RETURN n.id AS id LIMIT $top
}
RETURN prefix, id
UNION ALL
UNWIND $beliefs AS prefix
CALL (prefix) {
  MATCH (n:Belief {tenant: $tenant})
  WHERE n.id STARTS WITH prefix AND n.scope IN $scopes
  RETURN n.id AS id LIMIT $top
}
RETURN prefix, id
UNION ALL
UNWIND $turns AS prefix
CALL (prefix) {
  MATCH (n:Turn {tenant: $tenant})
  WHERE n.id STARTS WITH prefix AND n.scope IN $scopes
  RETURN n.id AS id LIMIT $top
}
RETURN prefix, id
UNION ALL
UNWIND $episodes AS prefix
CALL (prefix) {
  MATCH (n:Episode {tenant: $tenant})
  WHERE n.id STARTS WITH prefix AND n.scope IN $scopes
  RETURN n.id AS id LIMIT $top
}
RETURN prefix, id
UNION ALL
UNWIND $events AS prefix
CALL (prefix) {
  MATCH (n:Event {tenant: $tenant})
  WHERE n.id STARTS WITH prefix AND n.scope IN $scopes
  RETURN n.id AS id LIMIT $top
}
RETURN prefix, id
