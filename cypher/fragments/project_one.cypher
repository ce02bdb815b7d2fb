// Rank competing candidates (ONE). The closed form costs the same for 4 candidates as for 500. A candidate has the
// score of its last affirmation, minus later refutations and later affirmations of others. The latter are summed from
// the newest time to the oldest, over the interval between the last affirmations of two candidates.
// needs: b, polarity, at, id (of the event), s, force (on other candidates), events, valid, policy
// leaves: ranked (a list of maps, best first), close (whether the first two are ambiguous), instants (maps, newest
// first, with the rows of each time)
// twin: oracles/projection.py one

WITH b, polarity, at, id, s, force, events
ORDER BY at DESC, id DESC
WITH at, sum(CASE polarity WHEN 1 THEN force ELSE 0.0 END) AS force,
     collect({b: b, polarity: polarity, id: id, s: s, events: events}) AS rows
ORDER BY at DESC
WITH collect({at: at, us: at.epochSeconds * 1000000 + at.microsecond, force: force, rows: rows}) AS instants
CALL (instants) {
  UNWIND range(0, size(instants) - 1) AS i
  UNWIND instants[i].rows AS x
  WITH x.b AS b, sum(x.events) AS events, min(CASE x.polarity WHEN 1 THEN i END) AS place,
       head(collect(CASE x.polarity WHEN 1 THEN x END)) AS last,
       collect(CASE x.polarity WHEN -1 THEN {place: i, s: x.s} END) AS against
  WITH b, events, place, last,
       reduce(left = 1.0, x IN against | CASE WHEN x.place <= place THEN left * (1 - x.s) ELSE left END) AS left
  ORDER BY place
  RETURN collect({b: b, events: events, place: place, affirmed: last.s, left: left, last_id: last.id}) AS found
}
LET us = [v IN found | instants[v.place].us]
LET since = [j IN range(0, size(found) - 1) | reduce(
  since = 0.0, x IN instants[CASE j WHEN 0 THEN 0 ELSE found[j - 1].place END..found[j].place] |
  since + x.force * exp(-(x.us - us[j]) / 8.64e10 / policy.tau_days)
)]
LET sums = reduce(
  sums = [], j IN range(0, size(found) - 1) |
  sums + [since[j] + CASE j WHEN 0 THEN 0.0 ELSE sums[-1] * exp(-(us[j - 1] - us[j]) / 8.64e10 / policy.tau_days) END]
)
// Lists are sorted, not rows: each row would count the memory of the lists in scope again.
LET best = reverse(coll.sort([j IN range(0, size(found) - 1) | [
  coalesce(found[j].affirmed * found[j].left * exp(-policy.kappa * sums[j]), 0.0), coalesce(us[j], -1.0e300),
  coalesce(found[j].last_id, ''), found[j].b.id, j
]]))
LET ranked = [x IN best | {
  b: found[x[4]].b, events: found[x[4]].events, affirmed: found[x[4]].affirmed, left: found[x[4]].left, last_id: found[x[4]].last_id,
  pressure: sums[x[4]], score: x[0], last_at: instants[found[x[4]].place].at,
  belief: x[0] * exp(-policy.decay_per_day * coalesce(valid.epochSeconds * 1000000 + valid.microsecond - us[x[4]], 0) / 8.64e10)
}]
LET close = coalesce(ranked[1].last_at IS NOT NULL AND ranked[0].score - ranked[1].score < policy.margin, false)
