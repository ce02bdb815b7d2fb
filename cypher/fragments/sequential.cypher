// Run the sequential test. Evidence at the same time is summed first. A boundary counts once, until the other one is
// crossed.
// needs: heard, initial, shown (first and last time to return, or an empty list)
// leaves: verdict (a map of status, log_ratio, confidence, evidence), steps (maps of at, status, log_ratio and
// confidence, one for each time to return)
// twin: oracles/sequential.py test

WITH heard.at AS at, sum(heard.llr) AS llr, count(*) AS n
ORDER BY at
WITH collect({at: at, llr: llr}) AS instants, sum(n) AS n
WITH n, reduce(test = {status: 'accumulating', log_ratio: 0.0, confidence: initial, steps: []}, x IN instants | [
  ratio IN [test.log_ratio + x.llr] | [
    status IN [CASE
      WHEN test.status <> 'promoted' AND ratio >= $test.upper - 1e-12 THEN 'promoted'
      WHEN test.status <> 'demoted' AND ratio <= $test.lower + 1e-12 THEN 'demoted'
      ELSE test.status
    END] | [
      step IN [{at: x.at, status: status, log_ratio: ratio, confidence: CASE
        WHEN status = test.status THEN test.confidence
        WHEN status = 'promoted' THEN CASE
          WHEN test.confidence >= $test.max_confidence THEN test.confidence
          WHEN test.confidence + $test.promote_step >= $test.max_confidence THEN $test.max_confidence
          ELSE test.confidence + $test.promote_step
        END
        WHEN test.confidence <= $test.min_confidence THEN test.confidence
        WHEN test.confidence - $test.demote_step <= $test.min_confidence THEN $test.min_confidence
        ELSE test.confidence - $test.demote_step
      END}] |
      step {.*, steps: CASE WHEN shown[0] <= x.at AND x.at <= shown[1] THEN test.steps + step ELSE test.steps END}
    ][0]
  ][0]
][0]) AS test
WITH test.steps AS steps, test {.status, .log_ratio, .confidence, evidence: n} AS verdict
