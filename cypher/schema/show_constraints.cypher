// Every constraint on nodes.
// mode: read
// rows: many
// params:
// columns:
//   - name        string  of the constraint
//   - type        string  for example NODE_PROPERTY_UNIQUENESS
//   - labels      list    of the nodes it covers
//   - properties  list    names, in order

SHOW CONSTRAINTS YIELD name, type, entityType, labelsOrTypes, properties
WHERE entityType = 'NODE'
RETURN name, type, labelsOrTypes AS labels, properties
ORDER BY name
