// Store the aggregate of a slot's older evidence, from which later reads resume. An existing checkpoint is extended. The
// newest evidence by valid time, and events recorded after $settled, are excluded. A slot
// with a ruled value has none. Run it after belief/lock_checkpoint.
// mode: write
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $slot_id      string    slot id
//   $scope        string    scope of the slot
//   $subject      string    folded
//   $predicate    string    folded
//   $now          datetime  upper bound of valid time
//   $known        datetime  null: a checkpoint reflects the latest known state
//   $settled      datetime  server time before which every recording transaction has ended
//   $newest       integer   number of newest events to exclude
//   $min_events   integer   minimum number of new events that justifies a new checkpoint
//   $policy       map       null: the declared policy
//   $weights_key  string    key of the weights for which the checkpoint is valid
// columns:
//   - events  integer  number of events that were added to the checkpoint

MATCH (kept:Checkpoint {tenant: $tenant, slot_id: $slot_id})
WITH kept, $slot_id AS slot_id, $scope AS scope, [$subject] AS names, $now AS valid, $predicate AS predicate_key
FILTER NOT EXISTS {
  MATCH (x:Belief {tenant: $tenant, scope: scope, subject_key: $subject, predicate_key: predicate_key})
  WHERE x.rulings IS NOT NULL
}
// include: fragments/policy.cypher
WITH kept, slot_id, scope, names, predicate_key, valid, policy {.*, cardinality: 'ONE', decay_per_day: 0.0} AS policy
// include: fragments/resume_slot.cypher
CALL (slot_id, valid, policy, checkpoint, tail, members) {
  // include: fragments/slot_events.cypher
  // include: fragments/not_retracted.cypher
  FILTER e.recorded_at <= $settled
  WITH e ORDER BY e.occurred_at DESC
  RETURN collect([e.occurred_at, e.id]) AS held
}
FILTER size(held) >= $newest + $min_events
WITH kept, slot_id, policy, checkpoint, tail, members, held, held[$newest][0] AS valid
CALL (slot_id, valid, policy, checkpoint, tail, members) {
  CALL (slot_id, valid, policy, checkpoint, tail, members) {
    // include: fragments/slot_events.cypher
    // include: fragments/not_retracted.cypher
    FILTER e.recorded_at <= $settled
    // include: fragments/overwrite_strength.cypher
    // include: fragments/to_one_row.cypher
    RETURN b, polarity, at, id, s, force, events
  UNION ALL
    // include: fragments/checkpoint_one.cypher
    RETURN b, polarity, at, id, s, force, events
  }
  // include: fragments/project_one.cypher
  RETURN ranked
}
WITH kept, slot_id, valid, policy {.*, cardinality: 'MANY'} AS policy, checkpoint, tail, members, held, ranked
CALL (slot_id, valid, policy, checkpoint, tail, members) {
  CALL (slot_id, valid, policy, checkpoint, tail, members) {
    // include: fragments/slot_events.cypher
    // include: fragments/not_retracted.cypher
    FILTER e.recorded_at <= $settled
    // include: fragments/noisy_or_term.cypher
    // include: fragments/to_many_row.cypher
    RETURN b, polarity, episode, alone, at, l, events, episodes, covered
  UNION ALL
    // include: fragments/checkpoint_many.cypher
    RETURN b, polarity, episode, alone, at, l, events, episodes, covered
  }
  // include: fragments/project_many.cypher
  RETURN collect([b, null, projected]) AS summed
}
CALL (ranked, summed, valid) {
  UNWIND [x IN ranked | [x.b, x, null]] + summed AS x
  WITH x[0] AS b, head(collect(x[1])) AS one, head(collect(x[2])) AS many
  RETURN collect(b.id) AS ids, collect(one.score) AS scores, collect(CASE WHEN one.last_at IS NULL THEN 0 ELSE 1 END) AS affirmed,
    collect(coalesce(one.last_at, valid)) AS last_at, collect(coalesce(one.last_id, '')) AS last_id,
    collect(many.log_positive) AS l_for, collect(many.log_negative) AS l_against,
    collect(many.events_for) AS events_for, collect(many.events_against) AS events_against,
    collect(many.supporting_episodes) AS episodes_for, collect(many.refuting_episodes) AS episodes_against
}
SET kept.ids = ids, kept.scores = scores, kept.affirmed = affirmed, kept.last_at = last_at, kept.last_id = last_id,
    kept.l_for = l_for, kept.l_against = l_against, kept.events_for = events_for, kept.events_against = events_against,
    kept.episodes_for = episodes_for, kept.episodes_against = episodes_against,
    kept.until = valid, kept.known_at = $settled, kept.newest = [x IN held[..$newest] WHERE x[0] > valid | x[1]],
    kept.kappa = policy.kappa, kept.tau_days = policy.tau_days, kept.weights_key = $weights_key
RETURN size([x IN held WHERE x[0] <= valid]) AS events
