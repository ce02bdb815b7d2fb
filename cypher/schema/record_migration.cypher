// Record that a migration was applied; a second time changes nothing but the language.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $number    integer  of the file, from 1
//   $name      string   of the file
//   $sha256    string   of its statements, hex
//   $language  string   of the full-text indexes that it made; null when it made none
// columns:

MERGE (m:Migration {number: $number})
ON CREATE SET
  m.name = $name,
  m.sha256 = $sha256,
  m.applied_at = datetime.realtime('Z')
SET m.language = $language
WITH m
MATCH (before:Migration {number: $number - 1})
MERGE (before)-[:FOLLOWED_BY]->(m)
