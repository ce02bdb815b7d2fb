// Add events to a trace. Needs `state`, a map of trace, at, full_at and burst, all except trace absent at the
// beginning; `times`, in order, none older than the state; and $trace. Leaves `traced`, such a map. An event is full if
// a day has passed since the last full one; otherwise it is the j-th of a burst and counts 0.1^j. If the state starts
// with an empty list of `contributions`, the contribution of each event is added to it; otherwise it stays null.
// needs: state, times
// leaves: traced
// twin: oracles/tracerank.py continued

LET traced = reduce(s = state, t IN times | [
  faded IN [coalesce(s.trace * exp(
    -((t.epochSeconds - s.at.epochSeconds) * 1000000 + t.microsecond - s.at.microsecond) / 8.64e10 / $trace.tau_days
  ), 0.0)] |
  [days IN [((t.epochSeconds - s.full_at.epochSeconds) * 1000000 + t.microsecond - s.full_at.microsecond) / 8.64e10] |
    [contribution IN [CASE
      WHEN days < 1 THEN {burst: 0.1 ^ (s.burst + 1), spacing: 1.0}
      ELSE {burst: 1.0, spacing: 1 + coalesce($trace.spacing * log(1 + days), 0.0)}
    END] | {
      trace: faded + contribution.burst * contribution.spacing,
      at: t,
      full_at: CASE WHEN days < 1 THEN s.full_at ELSE t END,
      burst: CASE WHEN days < 1 THEN s.burst + 1 ELSE 0 END,
      contributions: s.contributions + contribution
    }][0]
  ][0]
][0])
