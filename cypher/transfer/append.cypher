// Append events of an export with their original recorded_at.
// mode: write
// rows: one
// writes_ids: events.id Event
// refers_to: events.episode_id Episode, events.target_id Event
// params:
//   $events  list  maps of event properties, including recorded_at
// columns:
//   - written  integer  number of events appended

UNWIND $events AS event
// include: fragments/append_event.cypher
RETURN count(e) AS written
