// Compute the belief and the score of the beliefs that may be shown. Needs `places`, $scoring,
// $test and the parameters for reading evidence; leaves `believed`, a list of maps like x of recall/hits,
// with item, the card of the belief, and its belief values.
// needs: places
// leaves: believed
// twin: oracles/blending.py believed

CALL (places) {
  UNWIND places AS best
  WITH best.b AS b, best
  WITH b, b AS found_b, best.x AS x, best.j AS j, best.value AS value, best.j.policy AS policy, $valid AS valid, [] AS shown
  // include: fragments/prior.cypher
  CALL (found_b, valid) {
    MATCH (found_b)<-[:SUPPORTS|REFUTES]-(e:Event)
    // include: fragments/not_retracted.cypher
    WITH e
    ORDER BY e.occurred_at, e.id
    RETURN collect(e) AS evidence
  }
  CALL (found_b, evidence, valid, policy) {
    UNWIND evidence AS e
    WITH found_b AS b, e, false AS covered
    // include: fragments/noisy_or_term.cypher
    // include: fragments/to_many_row.cypher
    // include: fragments/project_many.cypher
    RETURN collect(projected)[0] AS projected
  }
  CALL (evidence, valid, initial, shown) {
    UNWIND evidence AS e
    // include: fragments/sprt_llr.cypher
    // include: fragments/sequential.cypher
    RETURN verdict
  }
  LET events = reverse(evidence)
  // include: fragments/best_reasons.cypher
  LET stated = size(coll.distinct([e IN vouching | coalesce(e.episode_id, e.id)]))
  LET reasons = [e IN best | e {
    event_id: e.id, .type, at: toString(e.occurred_at), .polarity, .confidence, .source_type, .source, .actor, .episode_id,
    trust: coalesce(e.trust, 0),
    quoted: [(e)-[:QUOTES]->(t:Turn {tenant: $tenant}) | {id: t.id, speaker: coalesce(t.name, t.role), time_zone: t.time_zone}][0]
  }]
  LET last_id = value.last_id
  // include: fragments/belief_trust.cypher
  WITH b, x, j, value, initial, trust, evidence, projected, verdict, reasons, stated,
       coalesce(value.belief, projected.belief, initial) AS belief
  RETURN collect(x {
    .node, .kind, n: b, reasons: reasons, stated: stated,
    score: CASE
      WHEN $scoring.adds THEN $scoring.blend * x.score + (1 - $scoring.blend) * belief
      ELSE x.score * ($scoring.blend + (1 - $scoring.blend) * belief)
    END,
    found_by: CASE WHEN b <> x.n THEN x.n.id END,
    item: b {
      .id, .scope, .statement, .subject, .predicate, .object, created_at: toString(b.created_at),
      recorded_at: toString(b.recorded_at), status: value.status
    },
    initial: initial, trust: trust, projected: projected {.*, last_at: null}, verdict: verdict, belief: belief, ambiguous: value.ambiguous,
    assumed_many: b.subject_key IS NOT NULL AND j.policy.id IS NULL AND j.policy.cardinality = 'MANY',
    last_at: toString(coalesce(value.last_at, projected.last_at)), lost: j.lost AND j.b = b,
    head_ids: CASE
      WHEN value.status <> 'current' THEN value.head_ids
      WHEN j.lost AND j.b = b THEN [c IN j.contenders | c.b.id]
      ELSE []
    END,
    other_candidates: [v IN j.others + j.value WHERE v.b <> b AND v.last_at IS NOT NULL |
      {belief_id: v.b.id, object: v.b.object, belief: v.belief, status: v.status, last_at: toString(v.last_at)}]
  }) AS believed
}
