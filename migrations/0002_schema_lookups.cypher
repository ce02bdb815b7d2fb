// What lists and counts walk along, in their order.
// mode: schema

CREATE INDEX memory_created_at_range IF NOT EXISTS
FOR (n:Memory) ON (n.tenant, n.scope, n.created_at);

CREATE INDEX memory_status_range IF NOT EXISTS
FOR (n:Memory) ON (n.tenant, n.scope, n.status);

CREATE INDEX episode_occurred_at_range IF NOT EXISTS
FOR (n:Episode) ON (n.tenant, n.scope, n.occurred_at);
