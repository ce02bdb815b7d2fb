// Return the version of the server.
// mode: schema
// rows: many
// params:
// columns:
//   - version  string  version of Neo4j

CALL dbms.components() YIELD name, versions
WHERE name = 'Neo4j Kernel'
RETURN versions[0] AS version
