// List the indexes of the types that graphmem creates.
// mode: read
// rows: many
// params:
// columns:
//   - name        string  index name
//   - type        string  RANGE, FULLTEXT or VECTOR
//   - labels      list    labels of the nodes it covers, or types of the relationships, in brackets
//   - properties  list    property names, in order; for a vector index the vector, then its filters
//   - config      map     settings, for example vector.dimensions
//   - state       string  ONLINE, POPULATING or FAILED

SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, options, state, owningConstraint
WHERE owningConstraint IS NULL AND type <> 'LOOKUP'
RETURN name, type,
       [x IN labelsOrTypes | CASE entityType WHEN 'NODE' THEN x ELSE '[' + x + ']' END] AS labels,
       properties, options.indexConfig AS config, state
ORDER BY name
