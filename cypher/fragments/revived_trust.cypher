// Compute the trust of who stated `b`, a belief, as a hypothesis or restored it, since it was last brought back. Evidence
// from before it was hidden still counts for it, and vouches for it only as far as who brought it back does.
// needs: b, valid
// leaves: assumed (the lowest rank, null without such an event), revived (the same, null if it was never brought back)
// twin: oracles/trust.py belief

CALL (b, valid) {
  LET hidden = COLLECT {
    MATCH (b)<-[s:SUPERSEDES]-(:Belief {tenant: $tenant})
    WHERE s.occurred_at <= valid AND ($known IS NULL OR s.recorded_at <= $known)
    RETURN s.occurred_at
  } + COLLECT {
    MATCH (b)<-[:CONCERNS]-(x:Event {tenant: $tenant, type: 'ARCHIVE'})
    WHERE x.occurred_at <= valid AND ($known IS NULL OR x.recorded_at <= $known)
    RETURN x.occurred_at
  }, stated = COLLECT {
    MATCH (b)<-[:CONCERNS]-(x:Event {tenant: $tenant})
    WHERE x.type IN ['BELIEVE', 'RESTORE'] AND x.trust IS NOT NULL
      AND x.occurred_at <= valid AND ($known IS NULL OR x.recorded_at <= $known)
    RETURN {at: x.occurred_at, trust: x.trust}
  }
  LET since = coll.max([h IN hidden WHERE any(s IN stated WHERE s.at >= h)])
  LET assumed = coll.min([s IN stated WHERE since IS NULL OR s.at >= since | s.trust])
  RETURN assumed, CASE WHEN since IS NOT NULL THEN assumed END AS revived
}
