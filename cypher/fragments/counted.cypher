// Of rows of `e`, those that are seen at `valid` as far as $known, and not taken back. Needs `e` and `valid`. Of all retractions
// that concern an event, at any remove, the newest known holds: one at an odd distance takes it back.
// Twin: oracles/retraction.py

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
