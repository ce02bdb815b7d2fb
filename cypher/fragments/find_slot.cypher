// Find the first of the given scopes that contains a slot, by any name of its subject. Needs `names`, $scopes,
// $predicate, $valid and $known; leaves `scope`, and `slot_id`, the key of the checkpoint, which covers one name.
// needs: names
// leaves: scope, slot_id

CALL (names) {
  UNWIND range(0, size($scopes) - 1) AS i
  MATCH (b:Belief)
  WHERE b.tenant = $tenant AND b.scope = $scopes[i] AND b.subject_key IN names AND b.predicate_key = $predicate
    AND b.created_at <= $valid AND ($known IS NULL OR b.recorded_at <= $known AND EXISTS {
      MATCH (b)<-[:SUPPORTS|REFUTES|CONCERNS]-(x:Event)
      WHERE x.occurred_at <= $valid AND x.recorded_at <= $known
    })
  WITH i, b.slot_id AS slot_id
  ORDER BY i
  LIMIT 1
  RETURN collect([$scopes[i], slot_id])[0] AS place
}
LET scope = place[0], slot_id = CASE size(names) WHEN 1 THEN place[1] END
