// List the constraints on nodes.
// mode: read
// rows: many
// params:
// columns:
//   - name        string  constraint name
//   - type        string  type, for example NODE_PROPERTY_UNIQUENESS
//   - labels      list    labels of the nodes it covers
//   - properties  list    property names, in order
//   - config      map     empty: a constraint has no settings

SHOW CONSTRAINTS YIELD name, type, entityType, labelsOrTypes, properties
WHERE entityType = 'NODE'
RETURN name, type, labelsOrTypes AS labels, properties, {} AS config
ORDER BY name
