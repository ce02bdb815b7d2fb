// Return all names of a person: the given one, the name it is an alias of, and the aliases of that.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string    tenant name
//   $key     string    name, folded
//   $known   datetime  upper bound of known time; null: no bound
// columns:
//   - names   list     names, folded; the given one first
//   - nodes   integer  number of Name nodes with these names
//   - events  list     ids of events that declare or remove these aliases

LET subject_key = $key
// include: fragments/subject_names.cypher
RETURN names,
       COUNT { MATCH (n:Name {tenant: $tenant}) WHERE n.key IN names } AS nodes,
       coll.distinct(COLLECT {
         MATCH (n:Name {tenant: $tenant})<-[:CONCERNS|NAMES]-(e:Event {tenant: $tenant})
         WHERE n.key IN names
         RETURN e.id
       }) AS events
