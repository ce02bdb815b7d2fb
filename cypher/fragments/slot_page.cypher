// Select a page of slots with evidence visible at ($valid, $known), in the order of scope, subject and predicate. Needs
// $scopes, $subject, $slots and the end of the previous page; leaves rows of `scope`, `subject_key` and
// `predicate_key`.
// leaves: scope, subject_key, predicate_key

CALL () {
  UNWIND $scopes AS scope
  WITH scope
  WHERE scope >= $after_scope
  CALL (scope) {
    UNWIND CASE WHEN $subject IS NULL THEN [CASE scope WHEN $after_scope THEN $after_subject ELSE '' END] END AS least
    CALL (scope, least) {
      MATCH (b:Belief)
      USING INDEX b:Belief(tenant, scope, subject_key, predicate_key)
      WHERE b.tenant = $tenant AND b.scope = scope AND b.subject_key >= least AND b.predicate_key IS NOT NULL
        AND (scope > $after_scope OR b.subject_key > $after_subject OR b.predicate_key > $after_predicate)
      // Sorting by the whole index key reads no more entries than the page needs.
      WITH DISTINCT b.tenant AS tenant, b.scope AS s, b.subject_key AS subject_key, b.predicate_key AS predicate_key
      WHERE EXISTS {
        MATCH (x:Belief)<-[:SUPPORTS|REFUTES]-(e:Event)
        USING INDEX x:Belief(tenant, scope, subject_key, predicate_key)
        WHERE x.tenant = $tenant AND x.scope = s AND x.subject_key = subject_key AND x.predicate_key = predicate_key
          AND x.created_at <= $valid AND e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
      }
      WITH *
      ORDER BY tenant, s, subject_key, predicate_key
      LIMIT $slots
      RETURN subject_key, predicate_key
    }
    RETURN subject_key, predicate_key
  UNION ALL
    FILTER $subject IS NOT NULL
    LET subject_key = $subject
    // include: fragments/subject_names.cypher
    MATCH (b:Belief)
    USING INDEX b:Belief(tenant, scope, subject_key, predicate_key)
    WHERE b.tenant = $tenant AND b.scope = scope AND b.subject_key IN names AND b.predicate_key IS NOT NULL
      AND (scope > $after_scope OR b.predicate_key > $after_predicate)
      AND b.created_at <= $valid AND EXISTS {
        MATCH (b)<-[:SUPPORTS|REFUTES]-(e:Event)
        WHERE e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
      }
    RETURN DISTINCT subject_key, b.predicate_key AS predicate_key
  }
  RETURN scope, subject_key, predicate_key
  ORDER BY scope, subject_key, predicate_key
  LIMIT $slots
}
