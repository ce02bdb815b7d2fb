// Determine whether `p`, an episode, is archived at ($valid, $known).
// needs: p
// leaves: put_away

LET put_away = COLLECT {
  MATCH (p)<-[:CONCERNS]-(x:Event {tenant: $tenant})
  WHERE x.type IN ['ARCHIVE', 'RESTORE'] AND x.occurred_at <= $valid AND ($known IS NULL OR x.recorded_at <= $known)
  RETURN x.type
  ORDER BY x.occurred_at DESC, x.id DESC
  LIMIT 1
} = ['ARCHIVE']
