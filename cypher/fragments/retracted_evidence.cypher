// Collect the retracted evidence of `b`. Needs `b`, `valid` and `pieces`, the remaining evidence, $known and $limit;
// leaves `retracted`, a list of maps, oldest first, each with its newest visible retraction.
// needs: b, valid, pieces
// leaves: retracted
// twin: oracles/retraction.py

CALL (b, valid, pieces) {
  MATCH way = (b)<-[:SUPPORTS|REFUTES]-(e:Event)<-[:RETRACTS*1..]-(r:Event)
  WHERE e.occurred_at <= valid AND ($known IS NULL OR all(x IN nodes(way)[1..] WHERE x.recorded_at <= $known))
  WITH e, r
  ORDER BY r.occurred_at DESC, r.id DESC
  WITH e, head(collect(r)) AS r
  FILTER NOT e.id IN [piece IN pieces | piece.id]
  ORDER BY e.occurred_at, e.id
  LIMIT $limit
  RETURN collect(e {
    .id, .polarity, .confidence, .source_type, at: e.occurred_at,
    retraction_id: r.id, retracted_at: r.recorded_at, payload: r.payload
  }) AS retracted
}
