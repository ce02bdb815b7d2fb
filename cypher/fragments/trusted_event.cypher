// Add its trust to an event: the lowest rank (rules/trust.py) of its writer and source type, of the turn that it quotes
// and, if it was consolidated, of the episode and of the evidence that it was drawn from.
// needs: given (the map of its properties), turn (node or null), episode (node or null)
// leaves: event (the map with its trust)
// twin: oracles/trust.py event

OPTIONAL CALL (given, episode) {
  FILTER given.source = 'consolidation'
  WITH episode AS p
  // include: fragments/episode_trust.cypher
  RETURN trust AS drawn
}
LET event = given {.*, trust: coll.min([x IN [coalesce($trust[coalesce(given.source_type, 'none')], 0), turn.trust, drawn, given.derived_trust] WHERE x IS NOT NULL])}
