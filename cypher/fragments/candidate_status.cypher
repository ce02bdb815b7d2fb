// Compute the status of `m`, a candidate of a slot.
// needs: m
// leaves: status (null if nothing ever hid it)

CALL (m) {
  // include: fragments/may_be_hidden.cypher
  WITH m AS node
  // include: fragments/status_as_of.cypher
  RETURN collect(status)[0] AS status
}
