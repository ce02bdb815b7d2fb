// Compute the trust of `m`, a memory, at (`valid`, $known): the lowest rank of the events in $scopes that state its very
// text, or let it replace another, since a person last stated it, and since it was last brought back: by a RESTORE, or by
// a statement after it was hidden. Another wording does not vouch for this one.
// needs: m, valid
// leaves: trust
// twin: oracles/trust.py memory

CALL (m, valid) {
  MATCH (m)<-[:REINFORCES|CONCERNS]-(e:Event {tenant: $tenant})
  WHERE e.type IN ['ADD', 'IMPORT', 'REINFORCE_EXACT', 'RESTORE', 'SUPERSEDE', 'DEPRECATE'] AND e.scope IN $scopes
    AND e.occurred_at <= valid AND ($known IS NULL OR e.recorded_at <= $known)
  LET hides = e.type = 'DEPRECATE' OR (e.type = 'SUPERSEDE' AND NOT EXISTS { (m)-[:SUPERSEDES {event_id: e.id}]->(:Memory {tenant: $tenant}) })
  WITH collect(CASE WHEN hides THEN e.occurred_at END) AS hidden, collect(CASE WHEN NOT hides THEN e END) AS stated
  LET since = coll.max(
    [e IN stated WHERE e.type = 'RESTORE' OR e.trust = 4 | e.occurred_at] + [h IN hidden WHERE any(e IN stated WHERE e.occurred_at >= h)]
  )
  RETURN coalesce(coll.min([e IN stated WHERE since IS NULL OR e.occurred_at >= since | coalesce(e.trust, 0)]), 0) AS trust
}
