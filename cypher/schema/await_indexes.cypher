// Wait until every index is online.
// mode: read
// rows: none
// params:
//   $seconds  integer  timeout in seconds
// columns:

CALL db.awaitIndexes($seconds)
