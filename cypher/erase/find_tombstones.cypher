// Return which of the given keys have a tombstone, whether the tenant has any tombstone, and whether it moves.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  full-text token of the tenant; the name of an erased tenant is not stored
//   $keys    list    digests: see erasure/rules.py
// columns:
//   - keys  list     digests that have a tombstone
//   - ever  boolean  whether the tenant has any tombstone
//   - move  map      what (moved or arriving) and address of a tenant that moves: see erasure/fence.py; else null

RETURN
  COLLECT {
    MATCH (t:Tombstone {tenant: $tenant})
    WHERE t.key IN $keys
    RETURN t.key
  } AS keys,
  EXISTS { MATCH (t:Tombstone {tenant: $tenant}) WHERE t.key IS NOT NULL } AS ever,
  head(COLLECT { MATCH (t:Tombstone {tenant: $tenant, key: 'move'}) RETURN t {.what, .address} }) AS move
