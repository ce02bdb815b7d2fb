// Return one page of nodes of a kind, with the texts of those that lack an embedding or token states,
// except compressed turns.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $kind    string   memory, belief, turn, episode or item
//   $after   string   id of the last node of the previous page; '' for the first page
//   $limit   integer  maximum number of nodes
//   $tokens  boolean  whether the model has token states; items never have them
// columns:
//   - looked  integer  number of nodes on the page
//   - after   string   id of the last node of the page; null after the last page
//   - texts   list     maps: id, name (of the speaker, or of an item's text) or null, text

// include: fragments/embedded_page.cypher
LET text = CASE
  WHEN n:Memory THEN n.content
  WHEN n:Belief THEN n.statement
  WHEN n:Episode THEN CASE coalesce(n.summary, '') WHEN '' THEN n.content ELSE n.summary END
  ELSE n.text
END
RETURN count(DISTINCT id) AS looked, max(id) AS after,
       collect(CASE WHEN n IS NOT NULL AND NOT coalesce(n.compressed, false) AND (n.embedding IS NULL OR ($tokens AND $kind <> 'item' AND n.token_states IS NULL)) THEN {id: id, name: n.name, text: text} END) AS texts
