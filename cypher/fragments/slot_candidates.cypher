// Collect the candidates of a slot, best first, with their status and trust.
// needs: one, many (see fragments/top_one.cypher and fragments/top_many.cypher), valid
// leaves: candidates (a list of maps)

CALL (one, many, valid) {
  UNWIND one + many AS x
  WITH x[0] AS m, x[1] AS candidate
  // include: fragments/candidate_status.cypher
  // The trust of the event that made it lead or, of coexisting candidates, the least of its evidence.
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
  WITH m, status, candidate {.*, trust: trust} AS candidate
  // include: fragments/candidate.cypher
  RETURN collect(candidate) AS candidates
}
