// Drop an index; one that is not there is no error.
// mode: schema
// rows: none
// params:
//   $name  identifier  of the index; DROP reads it from no map
// columns:

DROP INDEX $name IF EXISTS
