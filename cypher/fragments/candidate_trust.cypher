// Compute the trust of `m`, a candidate of a slot, like fragments/belief_trust.
// needs: m, candidate (a map with last_id, null if candidates coexist), valid
// leaves: trust

CALL (m, candidate, valid) {
  LET b = m, last_id = candidate.last_id
  CALL (b, last_id, valid) {
    MATCH (b)<-[:SUPPORTS]-(e:Event {tenant: $tenant})
    WHERE last_id IS NULL
    // include: fragments/not_retracted.cypher
    WITH e
    ORDER BY coalesce(e.trust, 0)
    LIMIT 1
    RETURN collect(e) AS evidence
  }
  // include: fragments/belief_trust.cypher
  RETURN trust
}
