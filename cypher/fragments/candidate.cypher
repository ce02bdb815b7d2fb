// Add the stored fields of `m`, a candidate of a slot.
// needs: candidate (a map of its belief values), m, status (null if nothing superseded it)
// leaves: candidate

WITH candidate {
  .*, belief_id: m.id, subject: m.subject, object: m.object, statement: m.statement, status: coalesce(status, 'current')
} AS candidate
