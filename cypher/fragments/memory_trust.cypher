// Compute the trust of `m`, a memory, at (`valid`, $known): the highest rank of the events in $scopes that state its
// very text, since it was last restored. Another wording does not vouch for this one.
// needs: m, valid
// leaves: trust
// twin: oracles/trust.py memory

CALL (m, valid) {
  MATCH (m)<-[:REINFORCES|CONCERNS]-(e:Event {tenant: $tenant})
  WHERE e.type IN ['ADD', 'IMPORT', 'REINFORCE_EXACT', 'RESTORE'] AND e.scope IN $scopes
    AND e.occurred_at <= valid AND ($known IS NULL OR e.recorded_at <= $known)
  WITH collect(e) AS stated, max(CASE e.type WHEN 'RESTORE' THEN e.occurred_at END) AS since
  RETURN coalesce(coll.max([e IN stated WHERE since IS NULL OR e.occurred_at >= since | e.trust]), 0) AS trust
}
