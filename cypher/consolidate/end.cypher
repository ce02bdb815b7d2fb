// Store the outcome of one cluster with the passages it rests on, or the cost of an attempt without one.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// refers_to: passages Episode, passages Turn
// params:
//   $reply     map   id, done, failed (whether it is a failed attempt), synthesiser, known, decided (JSON), raw (model output) or null, problem or null; for this attempt calls, tokens_in, tokens_out, cost_usd or null
//   $passages  list  ids of turns and episodes
// columns:

MATCH (r:Reply {tenant: $tenant, id: $reply.id})
SET r.done = $reply.done,
    r.synthesiser = $reply.synthesiser,
    r.known = $reply.known,
    r.decided = $reply.decided,
    r.raw = $reply.raw,
    r.problem = $reply.problem,
    r.calls = coalesce(r.calls, 0) + $reply.calls,
    r.tokens_in = coalesce(r.tokens_in, 0) + $reply.tokens_in,
    r.tokens_out = coalesce(r.tokens_out, 0) + $reply.tokens_out,
    r.cost_usd = coalesce(r.cost_usd, 0.0) + coalesce($reply.cost_usd, 0.0),
    r.attempts = r.attempts + CASE WHEN $reply.failed THEN 1 ELSE 0 END,
    r.recorded_at = datetime.truncate('microsecond', datetime.realtime('Z'))
WITH r
UNWIND $passages AS id
MATCH (p:Turn|Episode {tenant: $tenant, id: id})
MERGE (r)-[:RESTS_ON]->(p)
