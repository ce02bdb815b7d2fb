// Say that a migration is being applied anew: until it is recorded again, its full-text indexes stand on no language.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $number  integer  of the file
// columns:

MATCH (m:Migration {number: $number})
REMOVE m.language
