// Cache in `p` the policy of its newest event in force: of a person (rank 4) or, without one, of the newest, by (occurred_at,
// id). Without any it has none.
// needs: p
// leaves: p, newest (the event, or null)

OPTIONAL CALL (p) {
  MATCH (p)<-[:CONCERNS]-(e:Event {tenant: $tenant})
  WHERE
    // include: fragments/unretracted.cypher
  RETURN e AS newest
  ORDER BY e.trust = 4 DESC, e.occurred_at DESC, e.id DESC
  LIMIT 1
}
SET p.event_id = newest.id,
    p.trust = newest.trust,
    p.occurred_at = newest.occurred_at,
    p.recorded_at = newest.recorded_at,
    p.cardinality = newest.cardinality,
    p.kappa = newest.kappa,
    p.tau_days = newest.tau_days,
    p.decay_per_day = newest.decay_per_day,
    p.margin = newest.margin,
    p.combine = newest.combine,
    p.valid_from = newest.valid_from
