// Build the card of `x`, a memory, belief, episode, turn or event, as a node of a picture.
// needs: x
// leaves: card (a map: id, kind, name, at, event_type, polarity, taken_back)

LET e = x
LET card = {
  id: x.id, kind: CASE WHEN x:Turn THEN 'turn' WHEN x:Event THEN 'event' WHEN x:Episode THEN 'episode' WHEN x:Memory THEN 'memory' ELSE 'belief' END,
  name: left(coalesce(x.content, x.statement, x.text, x.summary, x.session_id, x.actor, ''), 300),
  at: coalesce(x.occurred_at, x.created_at, x.recorded_at), event_type: x.type, polarity: x.polarity,
  taken_back: x:Event AND NOT
    // include: fragments/unretracted.cypher
}
