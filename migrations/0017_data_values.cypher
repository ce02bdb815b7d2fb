// Keys of the values that memories and beliefs state, by which rejections find them. The rows come from
// rules/rejections.py, because Cypher has no digest.
// mode: write
// params:
//   $memory_values  list  maps: tenant, id, value_key
//   $belief_values  list  maps: tenant, id, value_key

UNWIND $memory_values AS row
MATCH (m:Memory {tenant: row.tenant, id: row.id})
SET m.value_key = row.value_key;

UNWIND $belief_values AS row
MATCH (b:Belief {tenant: row.tenant, id: row.id})
SET b.value_key = row.value_key;
