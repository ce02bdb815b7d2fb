// Record that a migration was applied; a second time changes nothing.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $number  integer  of the file, from 1
//   $name    string   of the file
//   $sha256  string   of its statements, hex
// columns:

MERGE (m:Migration {number: $number})
ON CREATE SET
  m.name = $name,
  m.sha256 = $sha256,
  m.applied_at = datetime.realtime('Z')
WITH m
MATCH (before:Migration {number: $number - 1})
MERGE (before)-[:FOLLOWED_BY]->(m)
