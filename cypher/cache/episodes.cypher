// List the summaries that cover all turns of their conversations, of every scope. Paged by id.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $after  string  id of the last row of the previous page; '' for the first page
// columns:
//   - id          string   episode id
//   - scope       string   scope of the episode
//   - stated      list     names of summary, entities and importance that a caller gave
//   - summary     string   its summary; null: none
//   - entities    list     its entities
//   - importance  float    its importance
//   - method      string   name of the method that summarised it
//   - turns       integer  number of its turns

MATCH (p:Episode)
WHERE p.tenant = $tenant AND p.id > $after AND p.summarised_turns IS NOT NULL
LET turns = COUNT { (:Turn {tenant: $tenant})-[:OCCURRED_IN]->(p) }
FILTER p.summarised_turns = turns AND turns > 0
// include: fragments/stated_fields.cypher
RETURN p.id AS id, p.scope AS scope, stated, p.summary AS summary, p.entities AS entities, p.importance AS importance,
       p.summarised_by AS method, turns
ORDER BY id
LIMIT $limit
