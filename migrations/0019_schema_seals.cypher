// Digests of events in a chain, by which a later change of one is found.
// mode: schema
// params:

CREATE CONSTRAINT seal_id_unique IF NOT EXISTS
FOR (n:Seal) REQUIRE (n.tenant, n.id) IS UNIQUE;
