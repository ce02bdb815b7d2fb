// Compute the status of `m`, a candidate of a slot. Leaves `status`, null if nothing ever hid it.
// needs: m
// leaves: status

CALL (m) {
  // include: fragments/may_be_hidden.cypher
  WITH m AS node
  // include: fragments/status_as_of.cypher
  RETURN collect(status)[0] AS status
}
