// Compute the vitality of `b`, a belief, at (`valid`, $known). Events at the same time count once.
// needs: b, valid, initial (of fragments/prior), evidence (what counts, in order of occurred_at and id), created_at
// (the time of its first visible event)
// leaves: vitality (a map of the fields of model/belief.py)
// twin: oracles/vitality.py vitality

// include: fragments/gate.cypher
// Being returned within a session counts once per session, at its last return; a roll-up keeps that time.
CALL (b, valid) {
  CALL (b) {
    MATCH (b)<-[:RETURNED]-(e:Event {tenant: $tenant})-[:WITHIN]->(start:Event {tenant: $tenant})
    RETURN e, start, e.occurred_at AS at, e.recorded_at AS known
  UNION ALL
    MATCH (b)<-[hit:RETRIEVED]-(e:Event {tenant: $tenant})-[:WITHIN]->(start:Event {tenant: $tenant})
    RETURN e, start, hit.occurred_at AS at, start.recorded_at AS known
  }
  FILTER at <= valid AND ($known IS NULL OR known <= $known) AND e.scope IN $scopes
  WITH start, max(at) AS at
  RETURN collect(at) AS returns
}
CALL (evidence) {
  UNWIND evidence AS e
  // include: fragments/sprt_llr.cypher
  WITH heard, heard.event AS e
  WITH heard, coalesce($weights[e.source_type], 0.0) * e.confidence AS pi,
       // The importance of a conversation is derived at any time, and has no history.
       coll.max([(e)-[:OCCURRED_IN]->(p:Episode {tenant: $tenant}) | CASE
         WHEN $known IS NULL OR p.summarised_turns IS NULL OR 'importance' IN p.stated THEN p.importance
         ELSE $vitality_constants.neutral
       END]) AS importance
  RETURN sum(pi) AS weight, sum(pi * CASE heard.polarity WHEN 1 THEN heard.strength ELSE 1 - heard.strength END) AS weighed,
         max(CASE heard.polarity WHEN 1 THEN importance END) AS most
}
CALL (evidence, accesses, returns, gated, created_at) {
  WITH [e IN evidence WHERE e.polarity = 1 | e.occurred_at] + accesses + returns AS looks, created_at, gated.flags AS flags
  // A flag sorts after a retrieval at the same time.
  UNWIND [at IN CASE looks WHEN [] THEN [created_at] ELSE looks END | [at, false]]
    + [at IN flags | [at, true]] AS x
  WITH DISTINCT x[0] AS at, x[1] AS flag
  ORDER BY at, flag
  RETURN reduce(s = {days: $vitality_constants.stability_days}, x IN collect([at, flag]) | [days IN [
    CASE WHEN x[1] THEN s.days * $vitality_constants.flagged ELSE s.days * (1 + coalesce(log(1 + (
      (x[0].epochSeconds - s.at.epochSeconds) * 1000000 + x[0].microsecond - s.at.microsecond
    ) / 8.64e10), 0.0)) END
  ] | {
    at: CASE WHEN x[1] THEN s.at ELSE x[0] END,
    days: CASE WHEN days < $vitality_constants.least_days THEN $vitality_constants.least_days WHEN days > $vitality_constants.max_stability_days THEN $vitality_constants.max_stability_days ELSE days END
  }][0]) AS held
}
LET importance = coalesce(most, $vitality_constants.neutral),
    faded = (valid.epochSeconds - held.at.epochSeconds) * 1000000 + valid.microsecond - held.at.microsecond,
    age = (valid.epochSeconds - created_at.epochSeconds) * 1000000 + valid.microsecond - created_at.microsecond
LET wanted = CASE WHEN age > 0 THEN $vitality_constants.gate_base * log(1 + gated.known) * log(1 + age / 8.64e10) ELSE 0.0 END
LET vitality = {
  retrieval: CASE WHEN faded > 0 THEN exp(-faded / 8.64e10 / (held.days * $vitality_constants.stretch ^ (importance - $vitality_constants.neutral))) ELSE 1.0 END,
  stability_days: held.days, storage: size(evidence), last_access_at: accesses[-1],
  mean: (initial * $vitality_constants.prior_precision + weighed) / ($vitality_constants.prior_precision + weight), precision: $vitality_constants.prior_precision + weight,
  prior: gated.prior, prior_at: gated.prior_at, contradiction: 1 - exp(gated.base - gated.minus),
  gate: CASE WHEN wanted < $vitality_constants.gate_min THEN $vitality_constants.gate_min WHEN wanted > $vitality_constants.gate_max THEN $vitality_constants.gate_max ELSE wanted END,
  flagged_at: gated.flagged_at, importance: importance,
  derived: any(e IN evidence WHERE e.source = $vitality_constants.consolidation)
    AND all(e IN evidence WHERE e.polarity = -1 OR coalesce(e.source, '') = $vitality_constants.consolidation)
    AND all(e IN words WHERE e.type <> 'BELIEVE' OR coalesce(e.source, '') = $vitality_constants.consolidation)
}
