// Compare relationships of events that other data determines with that data. Paged by id.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $stating    list     types of events that may be evidence
//   $committed  list     types of events that may reinforce a memory
//   $telemetry  list     types of events that state nothing
//   $after      string   id of the last event of the previous page; '' for the first page
//   $limit      integer  maximum number of events per page
// columns:
//   - looked  integer  number of events read; 0 after the last page
//   - after   string   id of the last event of the page
//   - wrong   list     maps: id; links, RETRACTS for a retraction whose target is another or not linked, else evidence

MATCH (e:Event) WHERE e.tenant = $tenant AND e.id > $after
WITH e
ORDER BY e.tenant, e.id
LIMIT $limit
LET retracts = e.type = 'RETRACT' OR EXISTS { (e)-[:RETRACTS]->() }
LET wrong = CASE
  // A target that came later is linked if it is evidence, a declaration or a retraction; another event may have taken the id.
  WHEN retracts AND NOT COLLECT { MATCH (e)-[:RETRACTS]->(t {tenant: $tenant}) RETURN t.id ORDER BY t.id } IN [
    COLLECT {
      MATCH (t:Event {tenant: $tenant, id: e.target_id})
      WHERE e.type = 'RETRACT' AND t.scope = e.scope
      RETURN t.id
    },
    COLLECT {
      MATCH (t:Event {tenant: $tenant, id: e.target_id})
      WHERE e.type = 'RETRACT' AND t.scope = e.scope AND (t.type IN ['RETRACT', 'POLICY'] OR EXISTS { (t)-[:SUPPORTS|REFUTES]->() })
      RETURN t.id
    }
  ] THEN 'RETRACTS'
  WHEN EXISTS {
    MATCH (e)-[r:SUPPORTS|REFUTES]->(b)
    WHERE NOT coalesce(
      e.type IN $stating AND b.tenant = e.tenant AND r.tenant = e.tenant AND r.slot_id = b.slot_id AND r.recorded_at = e.recorded_at
        AND type(r) = CASE e.polarity WHEN 1 THEN 'SUPPORTS' ELSE 'REFUTES' END,
      false
    )
  } OR (NOT e.type IN $committed AND EXISTS { (e)-[:REINFORCES]->() })
    OR (e.type IN $telemetry AND EXISTS { (e)-[:CONCERNS|NAMES|QUOTES]->() }) THEN 'evidence'
END
RETURN count(e) AS looked,
       max(e.id) AS after,
       collect(CASE WHEN wrong IS NOT NULL THEN {id: e.id, links: wrong} END) AS wrong
