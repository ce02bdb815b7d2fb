// Link an event to a belief that it supports or refutes, by `e.polarity`. The edge stores the slot and the time of
// recording, so that an index finds recent evidence of a slot. A belief is known from exactly the time of its first
// event.
// needs: e, b, claim

FOREACH (x IN CASE WHEN b.recorded_at <= e.recorded_at THEN [] ELSE [1] END |
  SET b.recorded_at = e.recorded_at)
FOREACH (x IN CASE e.polarity WHEN 1 THEN [1] ELSE [] END |
  CREATE (e)-[:SUPPORTS {tenant: $tenant, slot_id: claim.slot_id, recorded_at: e.recorded_at}]->(b))
FOREACH (x IN CASE e.polarity WHEN -1 THEN [1] ELSE [] END |
  CREATE (e)-[:REFUTES {tenant: $tenant, slot_id: claim.slot_id, recorded_at: e.recorded_at}]->(b))
