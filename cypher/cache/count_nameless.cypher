// Count the memories of a tenant whose id is missing or is not a string. No query finds them, and no index contains
// them. The query scans every memory.
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
