// Match the node of the tenant with the given `label` and `key`; both must be set. Reads only the index of that label.
// needs: label, key
// leaves: x (null if none exists)

OPTIONAL CALL (label, key) {
  FILTER label = 'Event'
  MATCH (x:Event {tenant: $tenant, id: key})
  RETURN x
UNION ALL
  FILTER label = 'Memory'
  MATCH (x:Memory {tenant: $tenant, id: key})
  RETURN x
UNION ALL
  FILTER label = 'Belief'
  MATCH (x:Belief {tenant: $tenant, id: key})
  RETURN x
UNION ALL
  FILTER label = 'Turn'
  MATCH (x:Turn {tenant: $tenant, id: key})
  RETURN x
UNION ALL
  FILTER label = 'Episode'
  MATCH (x:Episode {tenant: $tenant, id: key})
  RETURN x
UNION ALL
  FILTER label = 'Archive'
  MATCH (x:Archive {tenant: $tenant, id: key})
  RETURN x
UNION ALL
  FILTER label = 'Reply'
  MATCH (x:Reply {tenant: $tenant, id: key})
  RETURN x
UNION ALL
  FILTER label = 'Artifact'
  MATCH (x:Artifact {tenant: $tenant, id: key})
  RETURN x
UNION ALL
  FILTER label = 'Item'
  MATCH (x:Item {tenant: $tenant, id: key})
  RETURN x
UNION ALL
  FILTER label = 'Seal'
  MATCH (x:Seal {tenant: $tenant, id: key})
  RETURN x
UNION ALL
  FILTER label = 'Name'
  MATCH (x:Name {tenant: $tenant, id: key})
  RETURN x
UNION ALL
  FILTER label = 'Predicate'
  MATCH (x:Predicate {tenant: $tenant, id: key})
  RETURN x
UNION ALL
  FILTER label = 'Rejection'
  MATCH (x:Rejection {tenant: $tenant, id: key})
  RETURN x
}
