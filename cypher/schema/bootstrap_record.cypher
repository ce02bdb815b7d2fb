// Create the uniqueness constraint of migration records.
// mode: schema
// rows: none
// params:
// columns:

CREATE CONSTRAINT migration_number_unique IF NOT EXISTS
FOR (n:Migration) REQUIRE n.number IS UNIQUE
