// Mark a migration as being applied again. Its full-text indexes have no recorded language until it is recorded again.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $number  integer  number of the file
// columns:

MATCH (m:Migration {number: $number})
REMOVE m.language
