// Append a REOPEN event, the record that a forgotten scope is in use again.
// mode: write
// rows: one
// writes_ids: event.id Event
// params:
//   $event  map  event properties
// columns:
//   - id  string  event id

WITH $event AS event
// include: fragments/append_event.cypher
RETURN e.id AS id
