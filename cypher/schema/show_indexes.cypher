// Every index on nodes that graphmem could have made.
// mode: read
// rows: many
// params:
// columns:
//   - name        string  of the index
//   - type        string  RANGE, FULLTEXT, VECTOR
//   - labels      list    of the nodes it covers
//   - properties  list    names, in order; of a vector index the vector and then its filters
//   - config      map     its settings, for example vector.dimensions
//   - state       string  ONLINE, POPULATING, FAILED

SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, options, state, owningConstraint
WHERE owningConstraint IS NULL AND type <> 'LOOKUP' AND entityType = 'NODE'
RETURN name, type, labelsOrTypes AS labels, properties, options.indexConfig AS config, state
ORDER BY name
