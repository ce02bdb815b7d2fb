// Compute the smallest set of evidence of one side whose removal changes the result of a test. Signs are relative to
// `side`. The kept upward evidence must never lift the ratio to the upper boundary, counted from the start or from a
// time at which the ratio is at the lower boundary. The capacity for it grows with the downward evidence so far.
// Evidence is added in order of time; whenever the capacity is exceeded, the largest is removed, which keeps the most.
// needs: pieces (maps of id, at and llr), status (of the test), side (1: supporting, -1: refuting)
// leaves: removed (their ids, or null)
// twin: oracles/flips.py

WITH pieces, status, CASE status
       WHEN 'accumulating' THEN 1e300
       ELSE CASE side WHEN 1 THEN $test.upper ELSE -$test.lower END - 1e-12
     END AS high, CASE side WHEN 1 THEN $test.lower ELSE -$test.upper END + 1e-12 AS low, side
CALL (pieces, side) {
  UNWIND pieces AS x
  WITH x, side * x.llr AS push
  WHERE push > 0
  ORDER BY push, x.at, x.id
  RETURN collect({id: x.id, at: x.at, push: push}) AS ups
}
CALL (ups) {
  // Positions of `ups` in order of time; a position is also the rank by size.
  UNWIND range(0, size(ups) - 1) AS i
  WITH i, ups[i].at AS at
  ORDER BY at, i
  RETURN collect(i) AS timed
}
CALL (pieces, side) {
  UNWIND pieces AS x
  WITH x.at AS at, side * x.llr AS push
  WITH at, sum(push) AS step, sum(CASE WHEN push > 0 THEN 0.0 ELSE -push END) AS down, count(CASE WHEN push > 0 THEN 1 END) AS n
  ORDER BY at
  WITH collect({step: step, down: down, n: n}) AS steps
  // State after each time: the ratio, the downward sum so far, the number of upward events so far, and whether the step
  // was upward only.
  RETURN reduce(sums = [{ratio: 0.0, down: 0.0, n: 0}], s IN steps | sums + {
    ratio: sums[-1].ratio + s.step, down: sums[-1].down + s.down, n: sums[-1].n + s.n, new: s.n, rises: s.n > 0 AND s.down = 0
  })[1..] AS instants
}
LET room = coll.flatten([x IN instants | [i IN range(1, x.new) | high + x.down]]),
    pushes = [x IN ups | x.push]
// Only times with a lower ratio than all later ones are candidates. Upward-only steps are not, because the capacity
// before them is larger.
LET starts = reduce(found = {ratio: 1e300, starts: []}, x IN reverse(instants) | CASE
  WHEN x.ratio >= found.ratio THEN found
  WHEN x.rises OR x.down + low < 0 THEN {ratio: x.ratio, starts: found.starts}
  ELSE {ratio: x.ratio, starts: found.starts + {n: x.n, room: x.down + low}}
END).starts
// Upper bound: no choice keeps more events than fit the capacity at the end.
LET most = reduce(kept = {load: 0.0, n: 0}, push IN pushes | CASE
  WHEN kept.load + push < high + instants[-1].down THEN {load: kept.load + push, n: kept.n + 1} ELSE {load: 1e300, n: kept.n}
END).n
LET best = reduce(best = [], start IN CASE status WHEN 'accumulating' THEN [] ELSE [{n: 0, room: 0.0}] END + starts | CASE
  WHEN size(best) > 0 AND size(best[0]) >= most THEN best
  ELSE [kept IN [reduce(
    kept = reduce(kept = {load: 0.0, places: [], full: false}, i IN coll.sort(timed[..start.n]) | CASE
      WHEN kept.full OR kept.load + pushes[i] > start.room THEN {load: kept.load, places: kept.places, full: true}
      ELSE {load: kept.load + pushes[i], places: kept.places + i, full: false}
    END), i IN range(start.n, size(timed) - 1) | CASE
      // More events are already removed than in the best solution.
      WHEN size(best) > 0 AND i - size(kept.places) >= size(timed) - size(best[0]) THEN kept
      WHEN kept.load + pushes[timed[i]] < room[i] THEN {load: kept.load + pushes[timed[i]], places: kept.places + timed[i]}
      ELSE [places IN [coll.sort(kept.places + timed[i])] |
        {load: kept.load + pushes[timed[i]] - pushes[toInteger(places[-1])], places: places[..-1]}][0]
    END
  ).places] | CASE WHEN size(best) = 0 OR size(kept) > size(best[0]) THEN [kept] ELSE best END][0]
END)
LET removed = [x IN best | [i IN timed WHERE NOT i IN x | ups[i].id]][0]
