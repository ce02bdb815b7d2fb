// Return the statement that creates each constraint. `compact` runs them on the new files of a database.
// mode: read
// rows: many
// params:
// columns:
//   - statement  string  CREATE CONSTRAINT statement

SHOW CONSTRAINTS YIELD createStatement
RETURN 'CYPHER 25 ' + createStatement AS statement
