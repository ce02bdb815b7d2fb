// Build the card of `m`, for the reader, from its events in $scopes.
// needs: m, head_ids
// leaves: card (a map)

CALL (m) {
  MATCH (m)<-[:REINFORCES]-(e:Event)
  WHERE e.type IN ['ADD', 'IMPORT', 'REINFORCE_EXACT', 'REINFORCE_NEAR'] AND e.scope IN $scopes
  RETURN count(CASE WHEN e.type STARTS WITH 'REINFORCE' THEN 1 END) AS reinforce_count,
         max(e.occurred_at) AS last_seen_at
}
LET node = m
// include: fragments/rejected_for_reader.cypher
WITH *,
     m {.id, .scope, .content, .content_hash, .tags, .created_at, .recorded_at,
        status: CASE WHEN reader_rejects THEN 'rejected' ELSE m.status END,
        last_seen_at: coalesce(last_seen_at, m.created_at), reinforce_count: reinforce_count,
        head_ids: head_ids,
        claim_ids: COLLECT {
          MATCH (m)-[:CLAIMS]->(claimed:Belief)
          WHERE claimed.scope IN $scopes
          RETURN claimed.id
          ORDER BY claimed.id
        }} AS card
