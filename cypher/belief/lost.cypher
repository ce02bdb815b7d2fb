// Which of some beliefs have lost: those that were superseded, and values of ONE slots that another value leads, unless the two
// are too close to call.
// mode: read
// rows: one
// source: ESPER, ONE; twin rules/projection.py
// plan: NodeUniqueIndexSeek NodeIndexSeek
// params:
//   $tenant          string    whose
//   $scopes          list      scopes the reader can see
//   $ids             list      of beliefs
//   $valid           datetime  what happened later is not seen
//   $known           datetime  what was recorded later is not seen; null: everything
//   $policy          map       to read by; null: as declared
//   $present_policy  boolean   read by the policy declared by now, and not by that of $valid and $known
//   $default_policy  map       of a predicate that nobody declared
//   $weights         map       reliability of each source type, in (0, 1]
// columns:
//   - lost  list  ids

CALL () {
  UNWIND $ids AS id
  MATCH (claimed:Belief {tenant: $tenant, id: id})
  WHERE claimed.scope IN $scopes
  WITH claimed, coalesce(claimed.predicate_key, '') AS predicate_key, $valid AS valid
  // include: fragments/policy.cypher
  CALL (claimed, valid, policy) {
    FILTER policy.cardinality = 'ONE' AND claimed.subject_key IS NOT NULL
    MATCH (b:Belief {
      tenant: $tenant, scope: claimed.scope, subject_key: claimed.subject_key, predicate_key: claimed.predicate_key
    })
    MATCH (b)<-[:SUPPORTS|REFUTES]-(e:Event)
    // include: fragments/counted.cypher
    // include: fragments/weighs.cypher
    // include: fragments/among_others.cypher
    // include: fragments/project_one.cypher
    RETURN [x IN ranked WHERE x.last_at IS NOT NULL | x.b] AS values, close AND claimed IN [x IN ranked[..2] | x.b] AS open
  }
  CALL (claimed, values) {
    UNWIND range(-1, coalesce(size(values), 0) - 1) AS place
    WITH place, CASE place WHEN -1 THEN claimed ELSE values[place] END AS m
    // What nothing superseded is current.
    CALL (m) {
      FILTER EXISTS { (m)<-[:SUPERSEDES]-() }
      // include: fragments/lineage_as_of.cypher
      RETURN collect(status)[0] AS status
    }
    WITH m, place, coalesce(status, 'current') AS status
    ORDER BY place
    RETURN collect(CASE WHEN status = 'current' AND place >= 0 THEN m END)[0] AS leader, collect(status)[0] AS status
  }
  FILTER status <> 'current' OR (leader <> claimed AND NOT coalesce(open, false))
  RETURN collect(claimed.id) AS lost
}
RETURN lost
