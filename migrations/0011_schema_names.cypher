// Names of entities, and what stands for what.
// mode: schema
// params:

CREATE CONSTRAINT name_key_unique IF NOT EXISTS
FOR (n:Name) REQUIRE (n.tenant, n.key) IS UNIQUE;
