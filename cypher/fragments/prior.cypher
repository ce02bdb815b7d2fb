// Return the prior of `b`, from its earliest hypothesis by (occurred_at, id). Needs `b` and `valid`; leaves `initial`,
// in [0, 1].
// needs: b, valid
// leaves: initial

CALL (b, valid) {
  OPTIONAL MATCH (b)<-[:CONCERNS]-(x:Event)
  WHERE x.type = 'BELIEVE' AND x.occurred_at <= valid AND ($known IS NULL OR x.recorded_at <= $known)
  RETURN coalesce(x.confidence, 0.5) AS initial
  ORDER BY x.occurred_at, x.id
  LIMIT 1
}
