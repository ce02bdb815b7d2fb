// List the turns of a session in order, and whether an extractor has read each. Paged.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $episode_id  string   id of the session
//   $extractor   string   name of the extractor
//   $from        integer  first position to return
// columns:
//   - id           string   turn id
//   - position     integer  position in the session, from 0
//   - occurred_at  string   time of the turn
//   - read         boolean  whether a reply of this extractor rests on it

MATCH (t:Turn)
WHERE t.tenant = $tenant AND t.episode_id = $episode_id AND t.position >= $from AND t.scope = $scope
WITH t
ORDER BY t.position
LIMIT $limit
RETURN t.id AS id, t.position AS position, toString(t.occurred_at) AS occurred_at,
       EXISTS { (t)<-[:RESTS_ON]-(r:Reply {tenant: $tenant, kind: 'extraction'}) WHERE r.done AND r.synthesiser = $extractor } AS read
ORDER BY position
