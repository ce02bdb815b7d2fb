// Build the `record` of node `x`, not an event, that a seal covers: its properties named in $content, by label, and its
// relationships to what it claims or occurred in.
// needs: x
// leaves: record

LET record = {
  label: labels(x)[0],
  key: x.id,
  links: [(x)-[r:OCCURRED_IN|CLAIMS]->(y {tenant: $tenant}) | {type: type(r), label: labels(y)[0], key: y.id}],
  properties: [name IN $content[labels(x)[0]] WHERE x[name] IS NOT NULL | [name, x[name]]]
}
