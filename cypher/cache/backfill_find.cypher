// Check a page of memories, by id, for missing properties and events. Another tool or an older layout created such
// memories. Returns the properties of memories that lack an event of their own scope, or a required property.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant     string    tenant name
//   $after      string    id of the last row of the previous page; '' for the first page
//   $limit      integer   maximum number of memories per page
//   $dimension  integer   dimension of the embeddings
//   $earliest   datetime  lower bound of valid times
//   $latest     datetime  upper bound of the times of memories without events
// columns:
//   - looked  integer  number of memories on the page; 0: no more pages
//   - after   string   id of the last memory of the page
//   - found   list     maps of the incomplete memories: the fields of UnbackedMemory in upkeep/backfill.py

CALL () {
  MATCH (m:Memory)
  WHERE m.tenant = $tenant AND m.id > $after
  WITH m
  ORDER BY m.tenant, m.id
  LIMIT $limit
  LET stated = EXISTS { MATCH (m)<-[:REINFORCES]-(e:Event) WHERE e.scope = m.scope }
  // Invalid properties: some are checked only in memories without events, others in all memories.
  LET wrong = [name IN ['created_at', 'recorded_at', 'last_seen_at'] WHERE CASE
      WHEN stated AND name = 'last_seen_at' THEN false
      WHEN NOT m[name] IS :: ZONED DATETIME THEN true
      ELSE coalesce(m[name] < $earliest OR (NOT stated AND m[name] > $latest), false)
    END]
    + [x IN [
      ['scope', m.scope IS :: STRING NOT NULL AND 1 <= size(m.scope) <= 200],
      ['content', m.content IS :: STRING NOT NULL],
      ['tags', m.tags IS :: LIST<STRING NOT NULL>],
      ['status', stated OR m.status IS NULL OR m.status IN ['current', 'superseded', 'deprecated']],
      ['reinforce_count', stated OR m.reinforce_count IS NULL
        OR (m.reinforce_count IS :: INTEGER AND m.reinforce_count >= 0)]
    ] WHERE NOT x[1] | x[0]]
  LET embedded = m.embedding IS :: LIST<FLOAT NOT NULL> NOT NULL AND size(m.embedding) = $dimension
    AND (stated OR 0 < reduce(sum = 0.0, x IN m.embedding | sum + x * x) < Infinity)
  LET wants = NOT stated OR size(wrong) > 0 OR NOT embedded OR m.tags IS NULL OR m.status IS NULL
    OR m.content_hash IS NULL OR m.value_key IS NULL OR m.tenant_key IS NULL OR m.scope_key IS NULL
    OR m.created_at IS NULL OR m.recorded_at IS NULL
  RETURN count(m) AS looked, max(m.id) AS after,
         collect(CASE WHEN wants THEN {m: m, stated: stated, embedded: embedded, wrong: wrong} END) AS wanting
}
CALL (wanting) {
  UNWIND wanting AS x
  WITH x, x.m AS m
  RETURN collect(CASE
    WHEN size(x.wrong) > 0 THEN {id: m.id, wrong: x.wrong}
    ELSE m {.id, .scope, .content, .tags, .status, .created_at, .recorded_at, wrong: [],
            stated: x.stated, embedded: x.embedded,
            last_seen_at: CASE WHEN x.stated THEN null ELSE m.last_seen_at END,
            reinforce_count: CASE WHEN x.stated THEN null ELSE m.reinforce_count END,
            replaced: EXISTS { MATCH (m)<-[:SUPERSEDES]-(y:Memory) WHERE y.tenant = $tenant },
            marked: EXISTS { MATCH (m)<-[:CONCERNS]-(e:Event) WHERE e.type IN ['DEPRECATE', 'RESTORE'] }}
  END) AS found
}
RETURN looked, after, found
