// Compute the lineage of `m`, a memory or a belief, as of ($valid, $known): its status, the heads of its chain, and its
// incoming SUPERSEDES edges. It walks the chain; if no heads are needed, use fragments/status_as_of.cypher.
// needs: m
// leaves: status, head_ids (empty unless superseded), superseding

CALL (m) {
  MATCH (m)<-[path:SUPERSEDES*0..]-(node)
  WHERE node.tenant = $tenant
    AND all(s IN path WHERE s.occurred_at <= $valid AND ($known IS NULL OR s.recorded_at <= $known))
  // DISTINCT lets the server visit each node once, regardless of the number of paths to it.
  WITH DISTINCT m, node
  // include: fragments/status_as_of.cypher
  WITH node, status, superseding, [x IN superseding WHERE x.in_force | x.edge] AS edges
  WITH head(collect(CASE node WHEN m THEN status END)) AS status, head(collect(CASE node WHEN m THEN superseding END)) AS superseding,
       coll.flatten(collect(edges)) AS in_force, collect(CASE edges WHEN [] THEN node END) AS ends
  CALL (m, status, in_force, ends) {
    FILTER status IN ['superseded', 'rejected']
    MATCH (m)<-[path:SUPERSEDES*0..]-(top)
    // The server converts a constant list to a set, so each lookup takes constant time.
    WHERE top.tenant = $tenant AND all(s IN path WHERE s IN in_force)
    WITH DISTINCT top, ends
    WHERE top IN ends AND top <> m
    RETURN coll.sort(collect(top.id)) AS head_ids
  }
  RETURN status, superseding, head_ids
}
