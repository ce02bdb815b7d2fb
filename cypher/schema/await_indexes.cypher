// Wait until every index is online.
// mode: read
// rows: none
// params:
//   $seconds  integer  to wait at most
// columns:

CALL db.awaitIndexes($seconds)
