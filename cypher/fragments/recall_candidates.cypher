// Return the candidates of a recall in one row, with what rules/ranking.py needs to rank them, and with token states if
// $late. They are lists, because a map with its keys takes twice as long to write and to read.
// needs: n, kind, vector, words
// leaves: candidates

// Only memories have a trace; that of other nodes is 0.
LET m = CASE kind WHEN 'memory' THEN n END, valid = $valid
// include: fragments/trace_events.cypher
// include: fragments/trace_fold.cypher
// include: fragments/trace_decayed.cypher
LET last = CASE WHEN $scoring.recency > 0 THEN coalesce(n.occurred_at, COLLECT {
  MATCH (n)<-[:REINFORCES|SUPPORTS]-(e:Event {tenant: $tenant})
  WHERE e.scope IN $scopes AND e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
  RETURN max(e.occurred_at)
}[0]) END
WITH collect([
  elementId(n), n.id, kind, vector, words, trace,
  CASE kind WHEN 'turn' THEN n.episode_id END, CASE kind WHEN 'turn' THEN n.position END,
  // A person matches by one name; the subject of a belief matches only if all its words occur.
  CASE kind
    WHEN 'turn' THEN any(word IN split(toLower(n.name), ' ') WHERE word IN $query_words)
    WHEN 'belief' THEN all(word IN split(n.subject_key, ' ') WHERE word IN $query_words)
  END,
  any(span IN $dates WHERE span[0] <= coalesce(n.occurred_at, n.created_at) AND coalesce(n.occurred_at, n.created_at) < span[1]),
  kind = 'turn' AND NOT toLower(n.role) IN $human_roles,
  CASE WHEN $scoring.recency > 0 THEN ($valid.epochSeconds - last.epochSeconds + ($valid.microsecond - last.microsecond) / 1e6) / 86400 END,
  CASE WHEN $scoring.access > 0 THEN COUNT {
    MATCH (n)<-[:ACCESSED]-(e:Event {tenant: $tenant})
    WHERE e.scope IN $scopes AND e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
  } END,
  CASE WHEN $late THEN n.token_states END,
  CASE WHEN $late AND kind = 'turn' THEN [(t:Turn {tenant: $tenant})-[:NEXT]->(n) | t.token_states][0] END
]) AS candidates
