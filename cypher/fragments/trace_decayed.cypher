// Compute the trace at `valid`, with decay since the last event. Needs `traced` (fragments/trace_fold.cypher) and
// `valid`, $trace; leaves `trace`.
// needs: traced, valid
// leaves: trace
// twin: oracles/tracerank.py trace

LET trace = coalesce(traced.trace * exp(
  -((valid.epochSeconds - traced.at.epochSeconds) * 1000000 + valid.microsecond - traced.at.microsecond) / 8.64e10
  / $trace.tau_days
), 0.0)
