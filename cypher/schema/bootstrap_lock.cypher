// Create the uniqueness constraint of the migration lock.
// mode: schema
// rows: none
// params:
// columns:

CREATE CONSTRAINT migration_lock_key_unique IF NOT EXISTS
FOR (n:MigrationLock) REQUIRE n.key IS UNIQUE
