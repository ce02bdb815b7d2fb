// Keep the rows of `e` that state something (BELIEVE without evidence), are visible at (`valid`, $known) and not retracted. The newest visible retraction decides,
// at any distance: at an odd distance it retracts the event.
// needs: e, valid
// twin: oracles/retraction.py

FILTER e.type IN ['EVIDENCE', 'ADD', 'IMPORT', 'REINFORCE_EXACT', 'REINFORCE_NEAR', 'BELIEVE']
  AND e.occurred_at <= valid AND ($known IS NULL OR e.recorded_at <= $known)
  AND (
    NOT EXISTS { (e)<-[:RETRACTS]-() }
    OR coalesce(COLLECT {
      MATCH way = (e)<-[:RETRACTS*1..]-(r:Event)
      WHERE all(x IN nodes(way)[1..] WHERE x.type = 'RETRACT' AND ($known IS NULL OR x.recorded_at <= $known))
      RETURN length(way) % 2
      ORDER BY r.occurred_at DESC, r.id DESC
      LIMIT 1
    }[0], 0) = 0
  )
