// Return the statement that creates each index that no constraint owns. Every new database has the token lookup indexes.
// mode: read
// rows: many
// params:
// columns:
//   - statement  string  CREATE INDEX statement

SHOW INDEXES YIELD type, owningConstraint, createStatement
WHERE owningConstraint IS NULL AND type <> 'LOOKUP'
// The filter properties of a vector index need this version.
RETURN 'CYPHER 25 ' + createStatement AS statement
