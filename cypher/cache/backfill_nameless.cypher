// Count the memories of a tenant whose id is missing or is not a string. No query finds them. No index contains them,
// so the query scans all memories.
// mode: read
// rows: one
// allow: NodeByLabelScan
// params:
//   $tenant  string   tenant name
//   $limit   integer  maximum number of names
// columns:
//   - total  integer  total number of such memories
//   - names  list     elementId() of some of them

MATCH (m:Memory)
WHERE m.tenant = $tenant AND coalesce(NOT m.id IS :: STRING NOT NULL OR m.id = '', true)
RETURN count(m) AS total, collect(elementId(m))[..$limit] AS names
