// What pruning compressed or archived in a scope, as its events tell: the manifest of a run, or of all of them; a page, oldest first.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant    string    whose
//   $scope     string    which part
//   $run       string    of which run; null: of all
//   $after_at  datetime  the last page ended at this recorded_at; the earliest there is for the first page
//   $after_id  string    and this id; '' for the first page
//   $limit     integer   rows of a page
// columns:
//   - id           string    of the event
//   - recorded_at  datetime  by which pages go
//   - at           datetime  when it was pruned
//   - run          string    of which run
//   - type         string    ARCHIVE or COMPRESS
//   - payload      string    JSON: elo, reason, sha256
//   - kind         string    Memory, Belief or Episode
//   - item_id      string    of the item
//   - text         string    what it says now
//   - away         boolean   nothing has brought it back since

UNWIND ['ARCHIVE', 'COMPRESS'] AS type
MATCH (e:Event)
USING INDEX e:Event(tenant, type, recorded_at)
WHERE e.tenant = $tenant AND e.type = type AND e.recorded_at >= $after_at AND (e.recorded_at > $after_at OR e.id > $after_id)
  AND e.scope = $scope AND e.source = 'attention' AND ($run IS NULL OR e.actor = $run)
WITH e
ORDER BY e.recorded_at, e.id
LIMIT $limit
MATCH (e)-[:CONCERNS]->(p:Memory|Belief|Episode)
RETURN e.id AS id, e.recorded_at AS recorded_at, e.occurred_at AS at, e.actor AS run, e.type AS type, e.payload AS payload,
       CASE WHEN p:Memory THEN 'Memory' WHEN p:Belief THEN 'Belief' ELSE 'Episode' END AS kind, p.id AS item_id,
       coalesce(p.content, p.statement, p.summary, p.gist, '') AS text,
       // A statement is back when it was said again, too.
       (p:Episode OR p.status = 'archived') AND NOT EXISTS {
         MATCH (p)<-[:CONCERNS]-(x:Event {tenant: $tenant})
         WHERE x.type IN [e.type, 'RESTORE'] AND (x.occurred_at > e.occurred_at OR (x.occurred_at = e.occurred_at AND x.id > e.id))
       } AS away
ORDER BY recorded_at, id
