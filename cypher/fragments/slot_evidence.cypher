// Match the evidence of a slot. Needs `members` (fragments/slot.cypher); leaves rows of `member`, `x`, `b` and `e`: x has the
// evidence, b represents it.
// needs: members
// leaves: member, x, b, e

UNWIND members AS member
LET b = member.b, x = member.x
MATCH (x)<-[:SUPPORTS|REFUTES]-(e:Event)
