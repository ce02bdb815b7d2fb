// Remove the embeddings from one page of nodes of a kind.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $kind   string  memory, belief, turn, episode or item
//   $after  string  id of the last node of the previous page; '' for the first page
// columns:
//   - looked  integer  number of nodes on the page
//   - after   string   id of the last node of the page; null after the last page

// include: fragments/embedded_page.cypher
REMOVE n.embedding, n.token_states
RETURN count(DISTINCT id) AS looked, max(id) AS after
