// What was erased, by digests: no content, and no name.
// mode: schema
// params:

CREATE CONSTRAINT tombstone_key_unique IF NOT EXISTS
FOR (n:Tombstone) REQUIRE (n.tenant, n.key) IS UNIQUE;
