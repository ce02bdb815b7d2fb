// Values that a person rejected, and what finds the memories and beliefs that state them.
// mode: schema
// params:

CREATE CONSTRAINT rejection_id_unique IF NOT EXISTS
FOR (n:Rejection) REQUIRE (n.tenant, n.id) IS UNIQUE;

CREATE INDEX rejection_value_key_range IF NOT EXISTS
FOR (n:Rejection) ON (n.tenant, n.value_key, n.scope);

CREATE INDEX memory_value_key_range IF NOT EXISTS
FOR (n:Memory) ON (n.tenant, n.value_key);

CREATE INDEX belief_value_key_range IF NOT EXISTS
FOR (n:Belief) ON (n.tenant, n.value_key);
