// Record that a migration was applied. A second call changes the language only.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $number    integer  number of the file, from 1
//   $name      string   name of the file
//   $sha256    string   SHA-256 of its statements, hex
//   $language  string   language of the full-text indexes that it created; null if it created none
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
