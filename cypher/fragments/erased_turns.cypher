// Match `t`, each turn of the episodes to erase and each turn to erase alone.
// leaves: t

CALL () {
  UNWIND $episodes AS id
  MATCH (:Episode {tenant: $tenant, id: id})<-[:OCCURRED_IN]-(t:Turn {tenant: $tenant})
  RETURN t
UNION
  UNWIND $turns AS id
  MATCH (t:Turn {tenant: $tenant, id: id})
  RETURN t
}
