// The belief that a claim is about, made when it is new. Needs `claim`, a map, and `event`, its event's map; leaves `b`.
// It begins with its earliest event and is shown as the earliest that words it has it, by (occurred_at, id), so the order of
// arrival does not matter. Testimony, which has a strength, words nothing. What is shown is what is embedded.

MERGE (b:Belief {tenant: $tenant, id: claim.id})
ON CREATE SET
  b.tenant_key = $tenant_key,
  b.scope = claim.scope,
  b.scope_key = claim.scope_key,
  b.slot_id = claim.slot_id,
  b.subject_key = claim.subject_key,
  b.predicate_key = claim.predicate_key,
  b.object_key = claim.object_key,
  b.subject = claim.subject,
  b.predicate = claim.predicate,
  b.object = claim.object,
  b.statement = claim.statement,
  b.status = 'current',
  b.created_at = event.occurred_at,
  b.worded_at = event.occurred_at,
  b.first_id = event.id,
  b.unembedded = true
CALL (b, claim, event) {
  WITH b, claim, event
  WHERE event.occurred_at < b.created_at OR (event.strength IS NULL
    AND (event.occurred_at < b.worded_at OR (event.occurred_at = b.worded_at AND event.id < b.first_id)))
  // Locked and looked at again: another writer may have brought an earlier one meanwhile.
  SET b.locked_at = datetime.realtime('Z')
  SET b.created_at = CASE WHEN event.occurred_at < b.created_at THEN event.occurred_at ELSE b.created_at END
  WITH b, claim, event
  WHERE event.strength IS NULL
    AND (event.occurred_at < b.worded_at OR (event.occurred_at = b.worded_at AND event.id < b.first_id))
  // What another embedding model has made is of the words before.
  FOREACH (other IN [k IN keys(b) WHERE b.statement <> claim.statement AND k =~ 'embedding.*' AND k <> 'embedding'] |
    REMOVE b[other]
  )
  SET b.unembedded = CASE b.statement WHEN claim.statement THEN b.unembedded ELSE true END
  SET b.worded_at = event.occurred_at,
      b.first_id = event.id,
      b.subject = claim.subject,
      b.predicate = claim.predicate,
      b.object = claim.object,
      b.statement = claim.statement
}
CALL (b, claim) {
  WITH b, claim
  WHERE b.unembedded AND claim.embedding IS NOT NULL AND b.statement = claim.statement
  SET b.unembedded = null
  WITH b, claim
  CALL db.create.setNodeVectorProperty(b, 'embedding', claim.embedding)
}
