// What of proposals is known: evidence and proposals by id with what was decided of them, and beliefs that are there.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant      string  tenant name
//   $event_ids   list    of evidence and of proposals that may be there
//   $belief_ids  list    ids of beliefs that may exist
// columns:
//   - events   list  maps: id, rejected (somebody rejected it and nobody accepted it)
//   - beliefs  list  ids

RETURN
  COLLECT {
    MATCH (e:Event {tenant: $tenant})
    WHERE e.id IN $event_ids
    RETURN e {
      .id,
      rejected: EXISTS { (e)<-[:CONCERNS]-(:Event {tenant: $tenant, type: 'REJECT'}) }
        AND NOT EXISTS { (e)<-[:CONCERNS]-(:Event {tenant: $tenant, type: 'ACCEPT'}) }
    }
  } AS events,
  COLLECT {
    MATCH (b:Belief {tenant: $tenant})
    WHERE b.id IN $belief_ids
    RETURN b.id
  } AS beliefs
