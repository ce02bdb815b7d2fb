// List the evidence that was drawn from evidence, in one step or two: from one event, or from all evidence for a value.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek NodeIndexSeek
// params:
//   $event_id    string  id of evidence, or of a retraction of it; null: the evidence for a value
//   $value_keys  list    keys of what was ruled: see rules/rejections.py; null: the evidence of one event
//   $scope       string  scope of the value; global: every scope
// columns:
//   - id              string  event id
//   - scope           string  its scope
//   - retraction_ids  list    ids of its retractions that follow from rejections

CALL () {
  MATCH (:Event {tenant: $tenant, id: $event_id})-[:RETRACTS*0..]->(e:Event {tenant: $tenant})-[:SUPPORTS {tenant: $tenant}]->(:Belief {tenant: $tenant})
  RETURN e
UNION
  UNWIND $value_keys AS value_key
  CALL (value_key) {
    MATCH (b:Belief)
    WHERE b.tenant = $tenant AND b.value_key = value_key
    RETURN b
  UNION
    MATCH (b:Belief)
    WHERE b.tenant = $tenant AND b.statement_key = value_key
    RETURN b
  }
  FILTER $scope IN [b.scope, 'global']
  MATCH (b)<-[:SUPPORTS {tenant: $tenant}]-(e:Event {tenant: $tenant, source: 'consolidation'})
  RETURN e
}
CALL (e) {
  MATCH (drawn:Event {tenant: $tenant, target_id: e.id})
  WHERE drawn.type = 'EVIDENCE'
  RETURN drawn
UNION
  MATCH (between:Event {tenant: $tenant, target_id: e.id})
  WHERE between.type = 'EVIDENCE'
  MATCH (drawn:Event {tenant: $tenant, target_id: between.id})
  WHERE drawn.type = 'EVIDENCE'
  RETURN drawn
}
WITH DISTINCT drawn
RETURN drawn.id AS id, drawn.scope AS scope,
       COLLECT { MATCH (drawn)<-[:RETRACTS]-(r:Event {tenant: $tenant, source: 'rejection'}) RETURN r.id ORDER BY r.id } AS retraction_ids
ORDER BY id
