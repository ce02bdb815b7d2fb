// Every index that graphmem could have made.
// mode: read
// rows: many
// params:
// columns:
//   - name        string  of the index
//   - type        string  RANGE, FULLTEXT, VECTOR
//   - labels      list    of the nodes it covers, or types of the relationships, in brackets
//   - properties  list    names, in order; of a vector index the vector and then its filters
//   - config      map     its settings, for example vector.dimensions
//   - state       string  ONLINE, POPULATING, FAILED

SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, options, state, owningConstraint
WHERE owningConstraint IS NULL AND type <> 'LOOKUP'
RETURN name, type,
       [x IN labelsOrTypes | CASE entityType WHEN 'NODE' THEN x ELSE '[' + x + ']' END] AS labels,
       properties, options.indexConfig AS config, state
ORDER BY name
