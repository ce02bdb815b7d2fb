// Compute the trust of a belief: the rank of `last_id`, the event that sets its score in a ONE slot; else the highest
// rank of its supporting evidence; else that of its earliest hypothesis.
// needs: last_id (or null), evidence (the events that count), assumed (of fragments/prior)
// leaves: trust
// twin: oracles/trust.py belief

LET trust = coalesce(
  COLLECT { MATCH (e:Event {tenant: $tenant, id: last_id}) RETURN e.trust }[0],
  coll.max([e IN evidence WHERE e.polarity = 1 | e.trust]), assumed
)
