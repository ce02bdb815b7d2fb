// List the namespaces with items that end with the given labels. Sorted and paged.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $scope       string    scope name
//   $suffix      string    last labels in reverse order, each followed by a point
//   $conditions  list      maps: path (labels; '*' matches any) and from_end (whether it matches the last labels)
//   $depth       integer   number of labels of a namespace to return, >= 0; null: all
//   $valid       datetime  time of the read
//   $skip        integer   number of namespaces to skip
//   $limit       integer   maximum number of namespaces
// columns:
//   - namespace  list  labels of the namespace

MATCH (n:Namespace)
USING INDEX n:Namespace(tenant, scope, reversed)
WHERE n.tenant = $tenant AND n.scope = $scope AND n.reversed STARTS WITH $suffix
// include: fragments/namespaces_listed.cypher
RETURN namespace
