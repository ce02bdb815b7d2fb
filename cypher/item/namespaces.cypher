// Namespaces that hold items, in order: those that begin with given labels.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant      string    tenant name
//   $scope       string    scope name
//   $prefix      string    a path: labels each with a point behind it; '' begins every one
//   $conditions  list      maps: path (labels; '*' is any) and from_end (whether it is the last labels)
//   $depth       integer   labels of a namespace to return, >= 0; null: all
//   $valid       datetime  the instant of reading
//   $skip        integer   namespaces to pass over
//   $limit       integer   namespaces to return
// columns:
//   - namespace  list  labels

MATCH (n:Namespace)
USING INDEX n:Namespace(tenant, scope, path)
WHERE n.tenant = $tenant AND n.scope = $scope AND n.path STARTS WITH $prefix
// include: fragments/namespaces_listed.cypher
RETURN namespace
