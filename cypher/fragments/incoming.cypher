// Collect the nodes from which relationships lead to `n`, of each type and kind at most $counted: each is bounded on its own,
// so that thousands of one type do not hide another.
// needs: n
// leaves: incoming (a list of maps: type, outgoing, x)

CALL (n) {
  CALL (n) {
    UNWIND [t IN $types WHERE t = 'SUPPORTS'] AS type
    MATCH (n)<-[:SUPPORTS]-(x:Event {tenant: $tenant}) WHERE x.scope IN $scopes
    RETURN type, x
    LIMIT $counted
  UNION ALL
    UNWIND [t IN $types WHERE t = 'REFUTES'] AS type
    MATCH (n)<-[:REFUTES]-(x:Event {tenant: $tenant}) WHERE x.scope IN $scopes
    RETURN type, x
    LIMIT $counted
  UNION ALL
    UNWIND [t IN $types WHERE t = 'REINFORCES'] AS type
    MATCH (n)<-[:REINFORCES]-(x:Event {tenant: $tenant}) WHERE x.scope IN $scopes
    RETURN type, x
    LIMIT $counted
  UNION ALL
    UNWIND [t IN $types WHERE t = 'CONCERNS'] AS type
    MATCH (n)<-[:CONCERNS]-(x:Event {tenant: $tenant}) WHERE x.scope IN $scopes
    RETURN type, x
    LIMIT $counted
  UNION ALL
    UNWIND [t IN $types WHERE t = 'OCCURRED_IN'] AS type
    MATCH (n)<-[:OCCURRED_IN]-(x:Turn {tenant: $tenant}) WHERE x.scope IN $scopes
    RETURN type, x
    LIMIT $counted
  UNION ALL
    UNWIND [t IN $types WHERE t = 'OCCURRED_IN'] AS type
    MATCH (n)<-[:OCCURRED_IN]-(x:Event {tenant: $tenant}) WHERE x.scope IN $scopes
    RETURN type, x
    LIMIT $counted
  UNION ALL
    UNWIND [t IN $types WHERE t = 'QUOTES'] AS type
    MATCH (n)<-[:QUOTES]-(x:Event {tenant: $tenant}) WHERE x.scope IN $scopes
    RETURN type, x
    LIMIT $counted
  UNION ALL
    UNWIND [t IN $types WHERE t = 'RETRACTS'] AS type
    MATCH (n)<-[:RETRACTS]-(x:Event {tenant: $tenant}) WHERE x.scope IN $scopes
    RETURN type, x
    LIMIT $counted
  UNION ALL
    UNWIND [t IN $types WHERE t = 'CLAIMS'] AS type
    MATCH (n)<-[:CLAIMS]-(x:Memory {tenant: $tenant}) WHERE x.scope IN $scopes
    RETURN type, x
    LIMIT $counted
  UNION ALL
    UNWIND [t IN $types WHERE t = 'SUPERSEDES'] AS type
    MATCH (n)<-[:SUPERSEDES]-(x:Memory|Belief {tenant: $tenant}) WHERE x.scope IN $scopes
    RETURN type, x
    LIMIT $counted
  }
  RETURN collect({type: type, outgoing: false, x: x}) AS incoming
}
