// Build the card of `m` as of ($valid, $known). Its claims are the beliefs that a visible event supports, including
// retracted events.
// needs: m, status, created_at, last_seen_at, reinforce_count, head_ids
// leaves: card (a map)

LET card = m {
  .id, .scope, .content, .content_hash, .tags, .recorded_at, status: status, created_at: created_at,
  last_seen_at: last_seen_at, reinforce_count: reinforce_count, head_ids: head_ids,
  claim_ids: COLLECT {
    MATCH (m)-[:CLAIMS]->(claimed:Belief)
    WHERE claimed.scope IN $scopes AND EXISTS {
      MATCH (m)<-[:REINFORCES]-(x:Event)-[:SUPPORTS]->(claimed)
      WHERE x.occurred_at <= $valid AND ($known IS NULL OR x.recorded_at <= $known)
    }
    RETURN claimed.id
    ORDER BY claimed.id
  }
}
