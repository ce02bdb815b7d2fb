// Add events to a trace. An event is full if the window has passed since the last full one; otherwise it is the j-th of
// a burst and counts $trace.burst^j. An IMPORT counts $trace.import_weight times as much. If the state starts with an
// empty list of `contributions`, the contribution of each event is added to it; otherwise it stays null.
// needs: state (a map of trace, at, full_at and burst, all except trace absent at the beginning), times (in order, none
// older than the state: pairs of the time of an event and whether it is an IMPORT)
// leaves: traced (such a map)
// twin: oracles/tracerank.py continued

LET traced = reduce(s = state, x IN times | [t IN [x[0]] | [
  faded IN [coalesce(s.trace * exp(
    -((t.epochSeconds - s.at.epochSeconds) * 1000000 + t.microsecond - s.at.microsecond) / 8.64e10 / $trace.tau_days
  ), 0.0)] |
  [gap IN [(t.epochSeconds - s.full_at.epochSeconds) * 1000000 + t.microsecond - s.full_at.microsecond] |
    [contribution IN [CASE
      WHEN gap < $trace.window_hours * 3.6e9 THEN {
        burst: $trace.burst ^ (s.burst + 1), spacing: 1.0, weight: CASE WHEN x[1] THEN $trace.import_weight ELSE 1.0 END
      }
      ELSE {
        burst: 1.0, spacing: 1 + coalesce($trace.spacing * log(1 + gap / 8.64e10), 0.0),
        weight: CASE WHEN x[1] THEN $trace.import_weight ELSE 1.0 END
      }
    END] | {
      trace: faded + contribution.burst * contribution.spacing * contribution.weight,
      at: t,
      full_at: CASE WHEN gap < $trace.window_hours * 3.6e9 THEN s.full_at ELSE t END,
      burst: CASE WHEN gap < $trace.window_hours * 3.6e9 THEN s.burst + 1 ELSE 0 END,
      contributions: s.contributions + contribution
    }][0]
  ][0]
][0]][0])
