// What a reader is shown of `m`, a value of a slot. Needs `candidate`, a map of what is believed of it, and `status`, null for one
// that nothing superseded; leaves `candidate` with what it says.

WITH candidate {
  .*, belief_id: m.id, subject: m.subject, object: m.object, statement: m.statement, status: coalesce(status, 'current')
} AS candidate
