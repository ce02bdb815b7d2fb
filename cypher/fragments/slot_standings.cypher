// Decide which beliefs are in force, and which candidates outrank the others. For a candidate of a ONE slot also: value
// (a map of belief, last_at, last_id, ambiguous), contenders (such maps: the leader and candidates too close to it) and
// others (at most 20 other candidates of the slot, strongest first).
// needs: asked (a list of beliefs; of a memory, which competes with none, it computes status and head_ids)
// leaves: judged (a list of maps: b, policy of its predicate, status, head_ids of its successors, lost: it is
// superseded, or another candidate leads its ONE slot and the two are not ambiguous)
// twin: oracles/projection.py one, oracles/lineage.py

CALL (asked) {
  UNWIND asked AS claimed
  WITH DISTINCT claimed, coalesce(claimed.predicate_key, '') AS predicate_key, claimed.subject_key AS subject_key, claimed.scope AS scope, $valid AS valid
  // include: fragments/policy.cypher
  // include: fragments/subject_names.cypher
  WITH claimed, policy, names, policy.cardinality = 'ONE' AND claimed.subject_key IS NOT NULL AS competes
  // The candidates of a slot are ranked once, regardless of how many of them are requested.
  WITH CASE WHEN competes THEN [claimed.scope, coll.min(names), claimed.predicate_key] ELSE [claimed.id] END AS key, competes,
       head(collect(policy)) AS policy, head(collect(names)) AS names, collect(claimed) AS wanted, $valid AS valid
  OPTIONAL CALL (competes, names, wanted, valid) {
    UNWIND CASE WHEN competes THEN [wanted[0]] ELSE [] END AS one
    LET scope = one.scope, predicate_key = one.predicate_key, mine = wanted
    // include: fragments/slot.cypher
    RETURN members
  }
  // The rule of fragments/rejected_for_reader.cypher.
  LET out = [y IN members WHERE any(z IN y.ruled WHERE any(seen IN [[
    i IN range(0, size(z.rulings) - 1)
    WHERE z.ruled_scopes[i] IN $scopes + 'global' AND z.ruled_at[i] <= valid AND ($known IS NULL OR z.ruled_known[i] <= $known)
  ]] WHERE any(i IN seen WHERE z.rulings[i] AND none(j IN seen WHERE j > i AND NOT z.rulings[j] AND z.ruled_paths[i] STARTS WITH z.ruled_paths[j])))) | y.x]
  CALL (members, out, policy, valid) {
    // include: fragments/slot_evidence.cypher
    FILTER NOT x IN out
    // include: fragments/not_retracted.cypher
    // include: fragments/overwrite_strength.cypher
    // include: fragments/to_one_row.cypher
    // include: fragments/project_one.cypher
    RETURN ranked, close
  }
  // Beliefs that are equal under aliases have one value, that of the belief that represents them. A rejected value does
  // not compete, so it is not ranked.
  LET found = [v IN ranked | v {.b, .last_at, .last_id, .belief, ambiguous: close, value: v.b}]
    + [x IN wanted WHERE NOT x IN [v IN ranked | v.b] | {b: x, value: coalesce([y IN members WHERE y.x = x | y.b][0], x), status: CASE WHEN x IN out THEN 'rejected' END}]
  CALL (found) {
    UNWIND range(0, size(found) - 1) AS place
    LET v = found[place], m = found[place].b
    CALL (m) {
      // include: fragments/may_be_hidden.cypher
      // include: fragments/lineage_as_of.cypher
      RETURN collect({status: status, head_ids: head_ids})[0] AS standing
    }
    WITH place, v {
      .*, ambiguous: v.ambiguous AND place < 2, status: coalesce(v.status, standing.status, 'current'), head_ids: coalesce(standing.head_ids, [])
    } AS v
    ORDER BY place
    RETURN collect(v) AS standings
  }
  LET fit = [v IN standings WHERE v.last_at IS NOT NULL AND v.status = 'current'], best = [v IN standings WHERE v.last_at IS NOT NULL][..21]
  WITH policy, wanted, standings, best, [v IN fit WHERE v.b = fit[0].b OR (v.ambiguous AND fit[0].ambiguous)] AS contenders
  UNWIND standings AS v
  FILTER v.b IN wanted
  LET own = coalesce([s IN standings WHERE s.b = v.value AND s.last_at IS NOT NULL][0], v)
  RETURN collect({
    b: v.b, policy: policy, status: v.status, head_ids: v.head_ids, value: own,
    lost: v.status <> 'current' OR coalesce(size(contenders) > 0 AND NOT own.b IN [c IN contenders | c.b], false),
    contenders: contenders,
    others: [c IN best WHERE c.value <> v.value][..20]
  }) AS judged
}
