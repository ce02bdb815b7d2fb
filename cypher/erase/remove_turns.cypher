// Erase a batch of the turns of episodes, with the replies that rest on them.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $episodes  list     episode ids
//   $limit     integer  maximum number of turns per transaction
// columns:
//   - removed  integer  number of turns erased

UNWIND $episodes AS id
MATCH (:Episode {tenant: $tenant, id: id})<-[:OCCURRED_IN]-(t:Turn)
WITH t
LIMIT $limit
CALL (t) {
  MATCH (t)<-[:RESTS_ON]-(r:Reply {tenant: $tenant})
  DETACH DELETE r
}
DETACH DELETE t
RETURN count(*) AS removed
