// Trust of turns, documents and events that were written before it was recorded: rules/trust.py unrecorded_rank. No
// recorded property of an event changes.
// mode: write

MATCH (t:Turn)
WHERE t.trust IS NULL
SET t.trust = CASE
  WHEN toLower(t.role) IN ['user', 'human'] THEN 4
  WHEN toLower(t.role) IN ['tool', 'function'] THEN 3
  WHEN toLower(t.role) IN ['assistant', 'ai', 'model'] THEN 2
  ELSE 0
END;

MATCH (p:Episode)
WHERE p.trust IS NULL AND (p.content IS NOT NULL OR 'summary' IN p.stated)
SET p.trust = 4;

MATCH (e:Event)
WHERE e.trust IS NULL AND (
  e.type IN ['ADD', 'IMPORT', 'REINFORCE_EXACT', 'REINFORCE_NEAR', 'EVIDENCE', 'BELIEVE']
  OR (e.type = 'RESTORE' AND EXISTS { (e)-[:CONCERNS]->(:Memory) })
)
OPTIONAL MATCH (e)-[:QUOTES]->(t:Turn)
WITH e, min(t.trust) AS quoted
SET e.trust = coll.min([x IN [
  quoted,
  CASE
    WHEN e.source = 'backfill' THEN 0
    WHEN e.source IN ['graphiti', 'mem0'] OR (e.type = 'IMPORT' AND quoted IS NULL) THEN 1
    WHEN e.source = 'mcp' THEN 2
    ELSE 4
  END,
  coalesce({EXPLICIT: 4, TOOL: 3, RULE: 3, CLASSIFIER: 2, EXTRACTOR: 2}[coalesce(e.source_type, 'EXPLICIT')], 0)
] WHERE x IS NOT NULL]);
