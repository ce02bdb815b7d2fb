// Match the belief of a claim, or create it. The belief starts at its earliest event, and takes its wording from the
// earliest statement by (occurred_at, id), so the order of arrival does not matter. Evidence with a strength provides
// no wording. The embedding is of the displayed wording.
// needs: claim (a map), event (the map of its event)
// leaves: b

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
  b.depth = claim.depth,
  b.status = 'current',
  b.value_key = claim.value_key,
  b.statement_key = claim.statement_key,
  b.created_at = event.occurred_at,
  b.worded_at = event.occurred_at,
  b.first_id = event.id,
  b.unembedded = true
CALL (b, claim, event) {
  WITH b, claim, event
  WHERE event.occurred_at < b.created_at OR (event.strength IS NULL
    AND (event.occurred_at < b.worded_at OR (event.occurred_at = b.worded_at AND event.id < b.first_id)))
  // Lock, then read again: another writer may have added an earlier statement.
  SET b.locked_at = datetime.realtime('Z')
  SET b.created_at = CASE WHEN event.occurred_at < b.created_at THEN event.occurred_at ELSE b.created_at END
  WITH b, claim, event
  WHERE event.strength IS NULL
    AND (event.occurred_at < b.worded_at OR (event.occurred_at = b.worded_at AND event.id < b.first_id))
  // Embeddings of other models belong to the previous wording.
  FOREACH (other IN [k IN keys(b) WHERE b.statement <> claim.statement AND k =~ '(embedding|token_states).*' AND NOT k IN ['embedding', 'token_states']] |
    REMOVE b[other]
  )
  // Rulings about the previous wording go, too.
  FOREACH (rulings IN CASE WHEN coalesce(b.statement_key, '') = coalesce(claim.statement_key, '') OR b.rulings IS NULL THEN [] ELSE [1] END |
    SET b.rulings = null, b.ruled_at = null, b.ruled_known = null, b.ruled_scopes = null, b.ruled_paths = null, b.rejected = null
  )
  SET b.unembedded = CASE b.statement WHEN claim.statement THEN b.unembedded ELSE true END, b.statement_key = claim.statement_key
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
  SET b.token_states = claim.token_states
}
CALL (b) {
  WITH b AS m
  // include: fragments/take_rulings.cypher
}
