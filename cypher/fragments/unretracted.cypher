// A condition: `e` is not retracted at $known. The newest visible retraction decides, at any distance: at an odd distance it
// retracts the event.
// needs: e
// twin: oracles/retraction.py

(
  NOT EXISTS { (e)<-[:RETRACTS]-() }
  OR coalesce(COLLECT {
    MATCH way = (e)<-[:RETRACTS*1..]-(r:Event {tenant: $tenant})
    WHERE all(x IN nodes(way)[1..] WHERE x.type = 'RETRACT' AND ($known IS NULL OR x.recorded_at <= $known))
    RETURN length(way) % 2
    ORDER BY r.occurred_at DESC, r.id DESC
    LIMIT 1
  }[0], 0) = 0
)
