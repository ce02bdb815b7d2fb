// Compute the trust of an episode: the lowest rank of its turns, of a text that a caller gave, and of a model that
// summarised it.
// needs: p
// leaves: trust (0 for an episode without text)
// twin: oracles/trust.py episode

CALL (p) {
  OPTIONAL MATCH (p)<-[:OCCURRED_IN]-(t:Turn {tenant: $tenant})
  WITH p, min(t.trust) AS spoken
  RETURN coalesce(coll.min([x IN [
    spoken, p.trust, CASE WHEN NOT p.summarised_by STARTS WITH 'rules ' THEN 2 END
  ] WHERE x IS NOT NULL]), 0) AS trust
}
