// Determine whether `m`, a belief, is flagged for revision at $valid: by its evidence and its FLAG and RESOLVE events.
// needs: m
// leaves: flagged
// twin: oracles/vitality.py gated

CALL (m) {
  WITH m AS b, $valid AS valid, m.created_at AS created_at
  // include: fragments/prior.cypher
  CALL (b, valid) {
    MATCH (b)<-[:SUPPORTS|REFUTES]-(e:Event {tenant: $tenant})
    // include: fragments/not_retracted.cypher
    WITH e
    ORDER BY e.occurred_at, e.id
    RETURN collect(e) AS evidence
  }
  // include: fragments/gate.cypher
  RETURN gated.flagged_at IS NOT NULL AS flagged
}
