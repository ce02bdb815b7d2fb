// Build the `record` of node `x`, not an event, that a seal covers: its properties named in $content, by label.
// needs: x
// leaves: record

LET record = {
  label: labels(x)[0],
  key: x.id,
  properties: [name IN $content[labels(x)[0]] WHERE x[name] IS NOT NULL | [name, x[name]]]
}
