// List the clusters whose attempts failed and of which a passage still has no belief. Paged by id.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $known  datetime  upper bound of known time
//   $after  string    id of the last row of the previous page; '' for the first page
// columns:
//   - id           string    reply id
//   - attempts     integer   number of failed attempts
//   - problem      string    code and message of the last failure
//   - recorded_at  datetime  time of the last attempt
//   - passage_ids  list      ids of its turns and episodes without a belief
//   - episode_ids  list      ids of the episodes of its passages

MATCH (r:Reply)
WHERE r.tenant = $tenant AND r.id > $after AND r.scope = $scope AND r.kind IS NULL AND NOT r.done AND r.attempts > 0
CALL (r) {
  MATCH (r)-[:RESTS_ON]->(p:Turn|Episode {tenant: $tenant})
  RETURN
    collect(CASE WHEN NOT EXISTS {
      (p)<-[:QUOTES|OCCURRED_IN]-(x:Event {tenant: $tenant, source: 'consolidation'}) WHERE x.recorded_at <= $known
    } THEN p.id END) AS passage_ids,
    collect(DISTINCT coalesce(p.episode_id, p.id)) AS episode_ids
}
FILTER size(passage_ids) > 0
RETURN r.id AS id, r.attempts AS attempts, r.problem AS problem, r.recorded_at AS recorded_at, passage_ids, episode_ids
ORDER BY id
LIMIT $limit
