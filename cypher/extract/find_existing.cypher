// Look up evidence events, proposals and beliefs by id. Proposals are returned with their decision.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $event_ids   list  ids of evidence events and of proposals that may exist
//   $belief_ids  list  ids of beliefs that may exist
// columns:
//   - events   list  maps: id, dismissed (whether it was dismissed and not accepted)
//   - beliefs  list  belief ids

RETURN
  COLLECT {
    MATCH (e:Event {tenant: $tenant})
    WHERE e.id IN $event_ids
    RETURN e {
      .id,
      dismissed: EXISTS { (e)<-[:CONCERNS]-(:Event {tenant: $tenant, type: 'DISMISS'}) }
        AND NOT EXISTS { (e)<-[:CONCERNS]-(:Event {tenant: $tenant, type: 'ACCEPT'}) }
    }
  } AS events,
  COLLECT {
    MATCH (b:Belief {tenant: $tenant})
    WHERE b.id IN $belief_ids
    RETURN b.id
  } AS beliefs
