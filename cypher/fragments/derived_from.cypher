// Collect the beliefs that `b` generalises: those for which the evidence counts from which its own evidence was drawn.
// needs: b
// leaves: derived_from (a list of maps in order of id)

CALL (b) {
  FILTER coalesce(b.depth, 0) > 0
  MATCH (b)<-[:SUPPORTS {tenant: $tenant}]-(drawn:Event {tenant: $tenant, source: 'consolidation'})
  WHERE drawn.target_id IS NOT NULL AND drawn.occurred_at <= $valid AND ($known IS NULL OR drawn.recorded_at <= $known)
  MATCH (:Event {tenant: $tenant, id: drawn.target_id})-[:SUPPORTS {tenant: $tenant}]->(part:Belief {tenant: $tenant})
  WITH DISTINCT part
  ORDER BY part.id
  RETURN collect({belief_id: part.id, statement: part.statement, depth: coalesce(part.depth, 0)}) AS derived_from
}
