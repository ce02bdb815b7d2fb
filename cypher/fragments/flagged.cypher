// Determine whether `m`, a belief, is currently flagged for revision. It is if the newest of its FLAG and RESOLVE
// events is a FLAG.
// needs: m
// leaves: flagged
// twin: oracles/vitality.py flagged_at

CALL (m) {
  OPTIONAL MATCH (m)<-[:CONCERNS]-(x:Event)
  WHERE x.type IN ['FLAG', 'RESOLVE']
  RETURN coalesce(x.type = 'FLAG', false) AS flagged
  ORDER BY x.occurred_at DESC, x.id DESC
  LIMIT 1
}
