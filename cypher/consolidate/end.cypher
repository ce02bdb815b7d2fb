// Keep what was decided of a cluster, and on what words it rests; or that it went wrong once more.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $tenant    string    whose
//   $reply     map       id, done, synthesiser, known, decided (JSON), raw (the model's own words) or null, problem or null
//   $passages  list      ids of turns and episodes
// columns:

MATCH (r:Reply {tenant: $tenant, id: $reply.id})
SET r.done = $reply.done,
    r.synthesiser = $reply.synthesiser,
    r.known = $reply.known,
    r.decided = $reply.decided,
    r.raw = $reply.raw,
    r.problem = $reply.problem,
    r.attempts = r.attempts + CASE WHEN $reply.done THEN 0 ELSE 1 END,
    r.recorded_at = datetime.truncate('microsecond', datetime.realtime('Z'))
WITH r
UNWIND $passages AS id
MATCH (p:Turn|Episode {tenant: $tenant, id: id})
MERGE (r)-[:RESTS_ON]->(p)
