// Erase turns of episodes, some at a time, with what was decided of them.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant    string   tenant name
//   $episodes  list     ids
//   $limit     integer  turns of a transaction
// columns:
//   - removed  integer  turns

UNWIND $episodes AS id
MATCH (:Episode {tenant: $tenant, id: id})<-[:OCCURRED_IN]-(t:Turn)
WITH t
LIMIT $limit
CALL (t) {
  MATCH (t)<-[:RESTS_ON]-(r:Reply)
  DETACH DELETE r
}
DETACH DELETE t
RETURN count(*) AS removed
