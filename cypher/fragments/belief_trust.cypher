// Compute the trust of a belief: the rank of `last_id`, the event that sets its score in a ONE slot; else the lowest
// rank of its supporting evidence; else that of its hypotheses. If it was brought back, at most the rank of who did.
// needs: b, valid, last_id (or null), evidence (the events that count)
// leaves: trust, revived
// twin: oracles/trust.py belief

// include: fragments/revived_trust.cypher
LET trust = coll.min([x IN [revived, coalesce(
  COLLECT { MATCH (e:Event {tenant: $tenant, id: last_id}) RETURN e.trust }[0],
  coll.min([e IN evidence WHERE e.polarity = 1 | coalesce(e.trust, 0)]), assumed, 0
)] WHERE x IS NOT NULL])
