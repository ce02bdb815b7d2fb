// Which of some things were erased, and whether anything of the tenant was.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  full-text token of whose: of one that was erased no node holds the name
//   $keys    list    digests: see rules/erasure.py
// columns:
//   - keys   list     of those that were
//   - ever   boolean  there is a tombstone of the tenant, whatever of

RETURN
  COLLECT {
    MATCH (t:Tombstone {tenant: $tenant})
    WHERE t.key IN $keys
    RETURN t.key
  } AS keys,
  EXISTS { MATCH (t:Tombstone {tenant: $tenant}) WHERE t.key IS NOT NULL } AS ever
