// Rank competing candidates (ONE). Needs rows of one slot: `said`, [b, polarity, time, event id, s, the force on other
// candidates, events]; and `valid` and `policy`. Leaves `ranked`, a list of maps, best first, and `close`, whether the
// first two are ambiguous. The closed form costs the same for 4 candidates as for 500. A candidate has the score of its
// last affirmation, minus later refutations and later affirmations of others. The latter are summed from the newest
// time to the oldest, over the interval between the last affirmations of two candidates. Twin: oracles/projection.py
// one

WITH said
ORDER BY said[2] DESC, said[3] DESC
WITH said[2] AS at, sum(CASE said[1] WHEN 1 THEN said[5] ELSE 0.0 END) AS force, collect(said) AS members
ORDER BY at DESC
WITH collect([at.epochSeconds * 1000000 + at.microsecond, force, members, at]) AS instants
CALL (instants) {
  UNWIND range(0, size(instants) - 1) AS i
  UNWIND instants[i][2] AS m
  WITH i, m[0] AS b, m[1] AS polarity, m[3] AS id, m[4] AS s, m[6] AS events
  WITH b, sum(events) AS events, min(CASE polarity WHEN 1 THEN i END) AS place,
       head(collect(CASE polarity WHEN 1 THEN [s, id] END)) AS last,
       collect(CASE polarity WHEN -1 THEN [i, s] END) AS against
  WITH b, events, place, last,
       reduce(left = 1.0, x IN against | CASE WHEN x[0] <= place THEN left * (1 - x[1]) ELSE left END) AS left
  ORDER BY place
  RETURN collect({b: b, events: events, place: place, affirmed: last[0], left: left, last_id: last[1]}) AS found
}
WITH instants, found, [v IN found | instants[v.place][0]] AS us
WITH instants, found, us, [j IN range(0, size(found) - 1) | reduce(
  since = 0.0, x IN instants[CASE j WHEN 0 THEN 0 ELSE found[j - 1].place END..found[j].place] |
  since + x[1] * exp(-(x[0] - us[j]) / 8.64e10 / policy.tau_days)
)] AS since
WITH instants, found, us, reduce(
  sums = [], j IN range(0, size(found) - 1) |
  sums + [since[j] + CASE j WHEN 0 THEN 0.0 ELSE sums[-1] * exp(-(us[j - 1] - us[j]) / 8.64e10 / policy.tau_days) END]
) AS sums
UNWIND range(0, size(found) - 1) AS j
WITH found[j] AS v, sums[j] AS pressure, instants[found[j].place][3] AS last_at, us[j] AS us,
     coalesce(found[j].affirmed * found[j].left * exp(-policy.kappa * sums[j]), 0.0) AS score
WITH v, pressure, score, last_at, score * exp(-policy.decay_per_day * coalesce(
  valid.epochSeconds * 1000000 + valid.microsecond - us, 0
) / 8.64e10) AS faded
ORDER BY score DESC, last_at IS NOT NULL DESC, last_at DESC, v.last_id DESC, v.b.id DESC
WITH collect(v {
  .b, .events, .affirmed, .left, .last_id, pressure: pressure, score: score, belief: faded, last_at: last_at
}) AS ranked
WITH ranked, coalesce(
  ranked[1].last_at IS NOT NULL AND ranked[0].score - ranked[1].score < policy.margin, false
) AS close
