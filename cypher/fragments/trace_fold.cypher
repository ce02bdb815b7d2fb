// What further events make of a trace. Needs `state`, a map of trace, at, full_at and burst, empty at the beginning; `times`, instants
// in order, none older than the state's; and $trace. Leaves `traced`, such a map. An event is full when a day has passed since the
// last full one; otherwise it is the j-th of a burst and counts 0.1^j. Twin: rules/tracerank.py continued

LET traced = reduce(s = state, t IN times | [
  faded IN [coalesce(s.trace * exp(
    -((t.epochSeconds - s.at.epochSeconds) * 1000000 + t.microsecond - s.at.microsecond) / 8.64e10 / $trace.tau_days
  ), 0.0)] |
  [days IN [((t.epochSeconds - s.full_at.epochSeconds) * 1000000 + t.microsecond - s.full_at.microsecond) / 8.64e10] | CASE
    WHEN days < 1 THEN {trace: faded + 0.1 ^ (s.burst + 1), at: t, full_at: s.full_at, burst: s.burst + 1}
    ELSE {trace: faded + 1 + coalesce($trace.spacing * log(1 + days), 0.0), at: t, full_at: t, burst: 0}
  END][0]
][0])
