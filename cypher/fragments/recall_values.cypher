// Select the beliefs to show for those on the shortlist. A candidate that lost its slot is replaced by, or returned
// with, those that outrank it. Needs `shortlist`, `judged` and $statuses; leaves `places`, a list of maps: b, and of
// the belief that found it: x, j (as judged) and value (b as judged).
// needs: shortlist, judged
// leaves: places

CALL (shortlist, judged) {
  UNWIND shortlist AS x
  WITH x, [j IN judged WHERE j.b = x.n][0] AS j
  UNWIND CASE
    WHEN j.status <> 'current' AND NOT j.status IN $statuses THEN []
    WHEN j.lost AND 'outvoted' IN $statuses THEN [j.value] + j.contenders
    WHEN j.lost THEN j.contenders
    ELSE [j.value]
  END AS value
  WITH x, j, value
  ORDER BY value.b = x.n DESC, x.score DESC, x.n.id
  WITH value.b AS b, collect({x: x, j: j, value: value})[0] AS best
  RETURN collect({b: b, x: best.x, j: best.j, value: best.value}) AS places
}
