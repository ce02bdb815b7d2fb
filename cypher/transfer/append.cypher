// Append events of an export, each recorded when it says.
// mode: write
// rows: one
// ids: events.id Event, events.episode_id Episode, events.target_id Event
// params:
//   $tenant  string  tenant name
//   $events  list    maps: the event's own fields, recorded_at among them
// columns:
//   - written  integer  number of events appended

UNWIND $events AS event
// include: fragments/append_event.cypher
RETURN count(e) AS written
