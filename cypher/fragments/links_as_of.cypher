// Build the output of incoming SUPERSEDES edges.
// needs: superseding (of fragments/status_as_of.cypher)
// leaves: links (a list of maps)

LET links = [x IN superseding | {
  newer_id: startNode(x.edge).id, event_id: x.edge.event_id, occurred_at: x.edge.occurred_at, recorded_at: x.edge.recorded_at,
  in_force: x.in_force
}]
