// Memories by when they were last heard of: what may be out of date is looked for from the oldest on.
// mode: schema

CREATE INDEX memory_trace_at_range IF NOT EXISTS
FOR (n:Memory) ON (n.tenant, n.scope, n.status, n.trace_at);
