// Return the prior of `b`, from its earliest hypothesis by (occurred_at, id).
// needs: b, valid
// leaves: initial (between 0 and 1)

CALL (b, valid) {
  OPTIONAL MATCH (b)<-[:CONCERNS]-(x:Event {tenant: $tenant})
  WHERE x.type = 'BELIEVE' AND x.occurred_at <= valid AND ($known IS NULL OR x.recorded_at <= $known)
  RETURN coalesce(x.confidence, 0.5) AS initial
  ORDER BY x.occurred_at, x.id
  LIMIT 1
}
