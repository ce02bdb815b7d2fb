// Keep the rows of `e` that state something (BELIEVE without evidence), are visible at (`valid`, $known) and not retracted.
// needs: e, valid
// twin: oracles/retraction.py

FILTER e.type IN ['EVIDENCE', 'ADD', 'IMPORT', 'REINFORCE_EXACT', 'REINFORCE_NEAR', 'BELIEVE']
  AND e.occurred_at <= valid AND ($known IS NULL OR e.recorded_at <= $known)
  AND
  // include: fragments/unretracted.cypher
