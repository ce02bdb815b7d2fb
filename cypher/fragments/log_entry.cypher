// Build the audit entry of `e`, a SEARCH, an ACCESS or a SESSION_END.
// needs: e
// leaves: entry

LET entry = e {
  .id, .type, .payload, at: e.occurred_at, results: COUNT { (e)-[:RETURNED]->() }, item_id: [(e)-[:ACCESSED]->(n) | n.id][0]
}
