// Memories of a tenant that nothing can find, because they have no id that is a text. No index holds them, so every memory is
// looked at.
// mode: read
// rows: one
// allow: NodeByLabelScan
// params:
//   $tenant  string   tenant name
//   $limit   integer  names to return
// columns:
//   - total  integer  how many there are
//   - names  list     of some of them, as elementId() gives them

MATCH (m:Memory)
WHERE m.tenant = $tenant AND coalesce(NOT m.id IS :: STRING NOT NULL OR m.id = '', true)
RETURN count(m) AS total, collect(elementId(m))[..$limit] AS names
