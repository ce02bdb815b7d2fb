// List sessions of a scope with turns that an extractor has not read, and without a turn since a time.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $extractor  string    name of the extractor
//   $attempts   integer   number of failed attempts after which turns are given up
//   $quiet      datetime  sessions with a turn recorded after this time are not listed: they may continue
//   $skipped    list      names of sessions that are not listed
//   $limit      integer   maximum number of sessions
// columns:
//   - session_id  string  name of the session

MATCH (p:Episode)
WHERE p.tenant = $tenant AND p.scope = $scope AND p.recorded_at IS NOT NULL AND p.session_id IS NOT NULL
  AND NOT p.session_id IN $skipped
  AND EXISTS {
    MATCH (t:Turn {tenant: $tenant})-[:OCCURRED_IN]->(p)
    WHERE NOT EXISTS {
      (t)<-[:RESTS_ON]-(r:Reply {tenant: $tenant, kind: 'extraction'})
      WHERE (r.done OR r.attempts >= $attempts) AND r.synthesiser = $extractor
    }
  }
  AND NOT EXISTS {
    MATCH (t:Turn {tenant: $tenant})-[:OCCURRED_IN]->(p)
    WHERE t.recorded_at > $quiet
  }
RETURN p.session_id AS session_id
ORDER BY p.recorded_at, p.id
LIMIT $limit
