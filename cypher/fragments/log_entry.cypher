// A SEARCH, an ACCESS or a SESSION_END `e` as an audit reads it. Leaves `entry`.

LET entry = e {
  .id, .type, .payload, at: e.occurred_at, results: COUNT { (e)-[:RETURNED]->() }, item_id: [(e)-[:ACCESSED]->(n) | n.id][0]
}
