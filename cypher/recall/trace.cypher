// TraceRank of a memory at an instant, event by event: what each adds, how much of that has faded, and the sum.
// mode: read
// rows: one
// source: Vestig M3, TraceRank; twin rules/tracerank.py
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string    whose
//   $scopes  list      scopes the reader can see
//   $id      string    of the memory
//   $valid   datetime  instant in the world that is asked about
//   $known   datetime  what was recorded later is not seen; null: everything
//   $trace   map       tau_days and spacing
//   $limit   integer   events to show, the newest
// columns:
//   - trace    float    sum of recency * burst * spacing over the events, >= 0
//   - total    integer  how many events there are
//   - sayings  list     maps, oldest first: event_id, at, burst, spacing, recency

MATCH (m:Memory {tenant: $tenant, id: $id})
WHERE m.scope IN $scopes
CALL (m) {
  MATCH (m)<-[:REINFORCES]-(e:Event)
  WHERE e.scope IN $scopes AND e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
  // Whole microseconds, so that a day is a day.
  WITH e.id AS id, e.occurred_at AS at,
       (e.occurred_at.epochSeconds - $valid.epochSeconds) * 1000000 + e.occurred_at.microsecond - $valid.microsecond AS us
  ORDER BY at, id
  RETURN collect({id: id, at: at, us: us}) AS events
}
LET sayings = reduce(s = {found: []}, e IN events | CASE
  WHEN e.us - s.full < 86400000000 THEN {full: s.full, place: s.place + 1, found: s.found + {
    event_id: e.id, at: e.at, burst: 0.1 ^ (s.place + 1), spacing: 1.0, recency: exp(e.us / 8.64e10 / $trace.tau_days)
  }}
  ELSE {full: e.us, place: 0, found: s.found + {
    event_id: e.id, at: e.at, burst: 1.0, spacing: 1 + coalesce($trace.spacing * log(1 + (e.us - s.full) / 8.64e10), 0.0),
    recency: exp(e.us / 8.64e10 / $trace.tau_days)
  }}
END).found
RETURN reduce(sum = 0.0, x IN sayings | sum + x.recency * x.burst * x.spacing) AS trace, size(sayings) AS total,
       sayings[-$limit..] AS sayings
