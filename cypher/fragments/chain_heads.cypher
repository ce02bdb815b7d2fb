// Find the heads of the chain of `m`, a memory. The list is empty unless `m` is superseded.
// needs: m
// leaves: head_ids (sorted)

CALL (m) {
  FILTER m.status IN ['superseded', 'rejected']
  MATCH (m)<-[:SUPERSEDES*1.. {in_force: true}]-(top)
  // DISTINCT lets the server visit each memory once, regardless of the number of paths to it.
  WITH DISTINCT top
  WHERE top.tenant = $tenant AND NOT EXISTS { (top)<-[:SUPERSEDES {in_force: true}]-(:Memory {tenant: $tenant}) }
  RETURN coll.sort(collect(top.id)) AS head_ids
}
