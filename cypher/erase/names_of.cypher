// Return all names of a person: the given one, the name it is an alias of, and the aliases of that, by the aliases of the
// scope of the handle and of global. Aliases of other scopes do not decide whom an erasure concerns.
// mode: read
// rows: one
// plan: NodeIndexSeek
// params:
//   $key  string  name, folded
// columns:
//   - names   list  names, folded; the given one first
//   - nodes   list  ids of the Name nodes with these names, in all scopes
//   - events  list  ids of events that declare or remove these aliases

LET subject_key = $key, scope = null
// include: fragments/subject_names.cypher
RETURN names,
       COLLECT { MATCH (n:Name {tenant: $tenant}) WHERE n.key IN names AND n.scope IS NOT NULL RETURN n.id ORDER BY n.id } AS nodes,
       coll.distinct(COLLECT {
         MATCH (n:Name {tenant: $tenant})<-[:CONCERNS|NAMES]-(e:Event {tenant: $tenant})
         WHERE n.key IN names AND n.scope IS NOT NULL
         RETURN e.id
       }) AS events
