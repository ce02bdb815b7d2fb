// The turns of a session in order, a page at a time: which of them an extractor has read, and when each was said.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant      string   tenant name
//   $scope       string   scope name
//   $episode_id  string   id of the session
//   $extractor   string   its name
//   $from        integer  first position wanted
//   $limit       integer  maximum number of rows per page
// columns:
//   - id           string   of the turn
//   - position     integer  in the session, from 0
//   - occurred_at  string   when it was said
//   - read         boolean  a reply of this extractor rests on it

MATCH (t:Turn)
WHERE t.tenant = $tenant AND t.episode_id = $episode_id AND t.position >= $from AND t.scope = $scope
WITH t
ORDER BY t.position
LIMIT $limit
RETURN t.id AS id, t.position AS position, toString(t.occurred_at) AS occurred_at,
       EXISTS { (t)<-[:RESTS_ON]-(r:Reply {tenant: $tenant, kind: 'extraction'}) WHERE r.done AND r.synthesiser = $extractor } AS read
ORDER BY position
