// Find when contradictions flagged `b`, a belief, for revision by `valid`. An episode counts once per polarity, by its
// strongest piece.
// needs: b, valid, initial, evidence (in order of occurred_at and id), created_at
// leaves: accesses (times), words (the events that concern the belief), gated (a map: flags, the times at which the
// belief became flagged; flagged_at, null if it is not flagged; prior, the belief at prior_at, its last support or
// review, after `known` pieces of evidence; contradiction, what has refuted it since, pooled)
// twin: oracles/vitality.py gated

CALL (b, valid) {
  MATCH (b)<-[edge:ACCESSED|CONCERNS]-(e:Event {tenant: $tenant})
  WHERE e.occurred_at <= valid AND ($known IS NULL OR e.recorded_at <= $known) AND (type(edge) = 'CONCERNS' OR e.scope IN $scopes)
  WITH e, type(edge) = 'ACCESSED' AS looks
  ORDER BY e.occurred_at, e.id
  RETURN collect(CASE WHEN looks THEN e.occurred_at END) AS accesses, collect(CASE WHEN NOT looks THEN e END) AS words
}
CALL (evidence) {
  UNWIND evidence AS e
  WITH e, -coalesce($weights[e.source_type], 0.0) * log(1 - CASE WHEN e.confidence > 1 - 1e-9 THEN 1 - 1e-9 ELSE e.confidence END) AS term
  WITH e.polarity AS polarity, e.episode_id AS episode, CASE WHEN e.episode_id IS NULL THEN e.id END AS alone,
       collect([e.occurred_at, term]) AS own
  UNWIND reduce(s = {best: 0.0, gains: []}, x IN own | {
    best: CASE WHEN x[1] > s.best THEN x[1] ELSE s.best END,
    gains: s.gains + [[x[0], CASE WHEN x[1] > s.best THEN x[1] - s.best ELSE 0.0 END, x[1] > 1e-9]]
  }).gains AS gain
  RETURN collect([gain[0], polarity, gain[1], gain[2], null]) AS gains
}
CALL (gains, words, accesses, initial, created_at) {
  UNWIND gains + [e IN words WHERE e.type IN ['FLAG', 'RESOLVE'] | [e.occurred_at, 0, 0.0, false, e.type]] AS x
  WITH x[0] AS at, x[1] AS polarity, x[2] AS amount, x[3] AS weighs, x[4] AS mark
  // A floating-point sum depends on the order of its terms. The sort is stable, so marks stay in the order of their ids.
  ORDER BY at, amount
  WITH at, {
    at: at, plus: sum(CASE polarity WHEN 1 THEN amount ELSE 0.0 END), minus: sum(CASE polarity WHEN -1 THEN amount ELSE 0.0 END),
    all: count(CASE WHEN polarity <> 0 THEN 1 END), pro: count(CASE WHEN polarity = 1 AND weighs THEN 1 END),
    con: count(CASE polarity WHEN -1 THEN 1 END), marks: collect(mark)
  } AS x
  ORDER BY at
  WITH collect(x) AS times
  RETURN reduce(s = {
    plus: 0.0, minus: 0.0, base: 0.0, pieces: 0, known: 0, prior: initial, prior_at: null, flagged_at: null, flags: []
  }, x IN times | [t IN [{
    // At one time, support counts before contradictions, and these before a review.
    plus: s.plus + x.plus, minus: s.minus + x.minus, pieces: s.pieces + x.all,
    base: CASE WHEN x.pro > 0 THEN s.minus ELSE s.base END,
    known: CASE WHEN x.pro > 0 THEN s.pieces + x.all - x.con ELSE s.known END,
    prior: CASE WHEN x.pro > 0 THEN 1 / (1 + exp(s.minus - s.plus - x.plus)) ELSE s.prior END,
    prior_at: CASE WHEN x.pro > 0 THEN x.at ELSE s.prior_at END
  }] | [error IN [t.prior * (1 - exp(t.base - t.minus))] | [days IN [(
    (x.at.epochSeconds - created_at.epochSeconds) * 1000000 + x.at.microsecond - created_at.microsecond
  ) / 8.64e10] | [wanted IN [$vitality_constants.gate_base * log(1 + t.known) * log(1 + CASE WHEN days > 0 THEN days ELSE 0.0 END)] | [opens IN [
    s.flagged_at IS NULL AND x.con > 0 AND (
      error > CASE
        WHEN wanted < $vitality_constants.gate_min THEN $vitality_constants.gate_min
        WHEN wanted > $vitality_constants.gate_max THEN $vitality_constants.gate_max
        ELSE wanted
      END + 1e-12
      OR (error > 1e-12 AND any(a IN accesses WHERE a <= x.at AND
        (x.at.epochSeconds - a.epochSeconds) * 1000000 + x.at.microsecond - a.microsecond <= $vitality_constants.gate_window_hours * 3.6e9))
    )
  ] | t {
    .plus, .minus, .pieces,
    base: CASE x.marks[-1] WHEN 'RESOLVE' THEN t.minus ELSE t.base END,
    known: CASE x.marks[-1] WHEN 'RESOLVE' THEN t.pieces ELSE t.known END,
    prior: CASE WHEN x.marks[-1] = 'RESOLVE' AND t.pieces > 0 THEN 1 / (1 + exp(t.minus - t.plus)) ELSE t.prior END,
    prior_at: CASE x.marks[-1] WHEN 'RESOLVE' THEN x.at ELSE t.prior_at END,
    flagged_at: CASE
      WHEN x.marks[-1] = 'RESOLVE' THEN null WHEN opens OR x.marks[-1] = 'FLAG' THEN coalesce(s.flagged_at, x.at) ELSE s.flagged_at
    END,
    flags: CASE WHEN opens OR (s.flagged_at IS NULL AND 'FLAG' IN x.marks) THEN s.flags + [x.at] ELSE s.flags END
  }][0]][0]][0]][0]][0]) AS gated
}
