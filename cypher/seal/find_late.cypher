// Return a page of events, with those recorded before the newest seal ends that no seal covers. Paged by id.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $telemetry  list      types of events that are not sealed
//   $before     datetime  end of the newest seal
//   $after      string    id of the last event of the previous page; '' for the first page
//   $limit      integer   maximum number of events per page
// columns:
//   - looked    integer  number of events read; 0 after the last page
//   - after     string   id of the last event of the page
//   - unsealed  integer  number of events without a seal
//   - late      list     ids of those that were recorded before

MATCH (e:Event) WHERE e.tenant = $tenant AND e.id > $after
WITH e
ORDER BY e.tenant, e.id
LIMIT $limit
LET open = NOT coalesce(e.type IN $telemetry, false) AND NOT EXISTS { (e)<-[:SEALS]-(:Seal {tenant: $tenant}) }
// An edge of the tenant to an event that waits for a seal excuses nothing: a writer to the database can add one.
LET late = open AND coalesce(e.recorded_at < $before, true)
RETURN count(e) AS looked,
       max(e.id) AS after,
       count(CASE WHEN open THEN 1 END) AS unsealed,
       collect(CASE WHEN late THEN e.id END) AS late
