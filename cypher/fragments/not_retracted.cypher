// Keep the rows of `e` that are visible at (`valid`, $known) and not retracted. The newest visible retraction decides,
// at any distance: at an odd distance it retracts the event.
// needs: e, valid
// twin: oracles/retraction.py

FILTER e.occurred_at <= valid AND ($known IS NULL OR e.recorded_at <= $known)
  AND (
    NOT EXISTS { (e)<-[:RETRACTS]-() }
    OR coalesce(COLLECT {
      MATCH way = (e)<-[:RETRACTS*1..]-(r:Event)
      WHERE $known IS NULL OR all(x IN nodes(way)[1..] WHERE x.recorded_at <= $known)
      RETURN length(way) % 2
      ORDER BY r.occurred_at DESC, r.id DESC
      LIMIT 1
    }[0], 0) = 0
  )
