// Compute the trace at `valid`, with decay since the last event.
// needs: traced (of fragments/trace_fold.cypher), valid
// leaves: trace
// twin: oracles/tracerank.py trace

LET trace = coalesce(traced.trace * exp(
  -((valid.epochSeconds - traced.at.epochSeconds) * 1000000 + valid.microsecond - traced.at.microsecond) / 8.64e10
  / $trace.tau_days
), 0.0)
