// List sessions of a scope with turns that an extractor has not read, and without a turn for a time.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $extractor  string    name of the extractor
//   $attempts   integer   number of failed attempts after which turns are given up
//   $quiet_s    float     seconds without a new turn after which a session is listed: until then it may continue
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
    // By the server's clock alone; a turn from the future was recorded before the clock was set back.
    WHERE datetime.realtime('Z') - duration({milliseconds: toInteger($quiet_s * 1000)}) < t.recorded_at <= datetime.realtime('Z')
  }
RETURN p.session_id AS session_id
ORDER BY p.recorded_at, p.id
LIMIT $limit
