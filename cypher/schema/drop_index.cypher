// Drop an index if it exists.
// mode: schema
// rows: none
// params:
//   $name  identifier  index name; DROP cannot read it from a map
// columns:

DROP INDEX $name IF EXISTS
