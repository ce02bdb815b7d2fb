// List the items of a scope that pruning compressed or archived. This is the manifest of one run or of all runs, read
// from the events. Paged, oldest first.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $scope     string    scope name
//   $run       string    run id; null: all runs
//   $after_at  datetime  recorded_at of the last row of the previous page; the earliest possible time for the first page
// columns:
//   - id           string    id of the event
//   - recorded_at  datetime  time of recording, the sort key of pages
//   - at           datetime  time of pruning
//   - run          string    run id
//   - type         string    ARCHIVE or COMPRESS
//   - payload      string    JSON: elo, reason, sha256
//   - kind         string    Memory, Belief or Episode
//   - item_id      string    id of the item
//   - text         string    current text
//   - away         boolean   whether the item is still pruned

UNWIND ['ARCHIVE', 'COMPRESS'] AS type
MATCH (e:Event)
USING INDEX e:Event(tenant, type, recorded_at)
WHERE e.tenant = $tenant AND e.type = type AND e.recorded_at >= $after_at AND (e.recorded_at > $after_at OR e.id > $after_id)
  AND e.scope = $scope AND e.source = 'attention' AND ($run IS NULL OR e.actor = $run)
MATCH (e)-[:CONCERNS]->(p:Memory|Belief|Episode)
WITH e, p
ORDER BY e.recorded_at, e.id
LIMIT $limit
RETURN e.id AS id, e.recorded_at AS recorded_at, e.occurred_at AS at, e.actor AS run, e.type AS type, e.payload AS payload,
       CASE WHEN p:Memory THEN 'Memory' WHEN p:Belief THEN 'Belief' ELSE 'Episode' END AS kind, p.id AS item_id,
       coalesce(p.content, p.statement, p.summary, p.gist, '') AS text,
       // A later statement also restores a pruned item.
       (p:Episode OR p.status = 'archived') AND NOT EXISTS {
         MATCH (p)<-[:CONCERNS]-(x:Event {tenant: $tenant})
         WHERE x.type IN [e.type, 'RESTORE'] AND (x.occurred_at > e.occurred_at OR (x.occurred_at = e.occurred_at AND x.id > e.id))
       } AS away
ORDER BY recorded_at, id
