// Take the embeddings from one page of nodes of a kind.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string   tenant name
//   $kind    string   memory, belief, turn, episode or item
//   $after   string   id of the last node of the page before; empty at first
//   $limit   integer  nodes to look at
// columns:
//   - looked  integer  nodes on the page
//   - after   string   id of the last of them; null behind the last page

// include: fragments/embedded_page.cypher
REMOVE n.embedding
RETURN count(DISTINCT id) AS looked, max(id) AS after
