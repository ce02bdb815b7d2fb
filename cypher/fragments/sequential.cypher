// Run the sequential test. Needs rows of `heard`, and `initial` and `shown` (first and last time to return, or an empty
// list) from outside, $test; leaves one row: `verdict`, a map of status, log_ratio, confidence, evidence; and `steps`,
// a list of [time, status, log_ratio, confidence] after each time to return. Evidence at the same time is summed first.
// A boundary counts once, until the other one is crossed.
// needs: heard, initial, shown
// leaves: verdict, steps
// twin: oracles/sequential.py test

WITH heard.at AS at, sum(heard.llr) AS llr, count(*) AS n
ORDER BY at
WITH collect([at, llr]) AS instants, sum(n) AS n
WITH n, reduce(folded = [['', 'accumulating', 0.0, initial], []], x IN instants | [
  v IN [CASE
    WHEN folded[0][1] <> 'promoted' AND folded[0][2] + x[1] >= $test.upper - 1e-12 THEN [
      x[0], 'promoted', folded[0][2] + x[1], CASE
        WHEN folded[0][3] >= $test.most THEN folded[0][3]
        WHEN folded[0][3] + $test.promote_step >= $test.most THEN $test.most
        ELSE folded[0][3] + $test.promote_step
      END]
    WHEN folded[0][1] <> 'demoted' AND folded[0][2] + x[1] <= $test.lower + 1e-12 THEN [
      x[0], 'demoted', folded[0][2] + x[1], CASE
        WHEN folded[0][3] <= $test.least THEN folded[0][3]
        WHEN folded[0][3] - $test.demote_step <= $test.least THEN $test.least
        ELSE folded[0][3] - $test.demote_step
      END]
    ELSE [x[0], folded[0][1], folded[0][2] + x[1], folded[0][3]]
  END] |
  [v, CASE WHEN shown[0] <= x[0] AND x[0] <= shown[1] THEN folded[1] + [v] ELSE folded[1] END]
][0]) AS folded
WITH folded[1] AS steps, {
  status: folded[0][1], log_ratio: folded[0][2], confidence: folded[0][3], evidence: n
} AS verdict
