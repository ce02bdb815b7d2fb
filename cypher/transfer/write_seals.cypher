// Create the seals of an export. Run transfer/link afterwards.
// mode: write
// rows: one
// refers_to: nodes.has.ids Event
// params:
//   $nodes  list  maps: key and has (properties)
// columns:
//   - written  integer  number of seals created

UNWIND $nodes AS row
LET has = row.has
CREATE (s:Seal {tenant: $tenant, id: row.key, ids: has.ids, salts: has.salts, leaves: has.leaves, digest: has.digest,
  sealed_until: has.sealed_until, recorded_at: has.recorded_at})
RETURN count(s) AS written
