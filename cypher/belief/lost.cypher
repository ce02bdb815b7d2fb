// Which of some beliefs have lost: those that were superseded, and values of ONE slots that another value leads, unless the two
// are too close to call.
// mode: read
// rows: one
// source: ESPER, ONE; twin oracles/projection.py
// plan: NodeUniqueIndexSeek NodeIndexSeek
// params:
//   $tenant          string    tenant name
//   $scopes          list      read scopes
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
  MATCH (b:Belief {tenant: $tenant, id: id})
  WHERE b.scope IN $scopes
  RETURN collect(b) AS asked
}
// include: fragments/judged_slots.cypher
RETURN [j IN judged WHERE j.lost | j.b.id] AS lost
