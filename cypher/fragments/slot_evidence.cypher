// Match the evidence of a slot. Needs `members` (fragments/slot.cypher); leaves rows of `b` and `e`.
// needs: members
// leaves: b, e

UNWIND members AS member
LET b = member.b, x = member.x
MATCH (x)<-[:SUPPORTS|REFUTES]-(e:Event)
