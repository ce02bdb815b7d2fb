// Namespaces that hold items, in order: those that end with given labels.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant      string    tenant name
//   $scope       string    scope name
//   $suffix      string    of the last labels, the last one first, each with a point behind it
//   $conditions  list      maps: path (labels; '*' is any) and from_end (whether it is the last labels)
//   $depth       integer   labels of a namespace to return, >= 0; null: all
//   $valid       datetime  the instant of reading
//   $skip        integer   namespaces to pass over
//   $limit       integer   namespaces to return
// columns:
//   - namespace  list  labels

MATCH (n:Namespace)
USING INDEX n:Namespace(tenant, scope, reversed)
WHERE n.tenant = $tenant AND n.scope = $scope AND n.reversed STARTS WITH $suffix
// include: fragments/namespaces_listed.cypher
RETURN namespace
