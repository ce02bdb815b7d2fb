// Write-lock an episode, so that its turns are numbered by one writer at a time.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $episode_id  string  id of the session
// columns:

MATCH (p:Episode {tenant: $tenant, id: $episode_id})
SET p.locked_at = datetime.realtime('Z')
