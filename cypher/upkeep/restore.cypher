// Put the full text of a compressed episode back, append a RESTORE event and drop the archive.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  whose
//   $event   map     about (the episode's id) and the event's own fields
// columns:

MATCH (p:Episode {tenant: $tenant, id: $event.about})-[:ARCHIVED_AS]->(a:Archive)
SET p.content = a.content,
    p.gist = null
DETACH DELETE a
WITH p, $event AS event
// include: fragments/append_event.cypher
CREATE (e)-[:CONCERNS]->(p)
