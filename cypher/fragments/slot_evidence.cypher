// Match the evidence of a slot.
// needs: members (of fragments/slot.cypher)
// leaves: member, x (has the evidence), b (represents it), e

UNWIND members AS member
LET b = member.b, x = member.x
MATCH (x)<-[:SUPPORTS|REFUTES]-(e:Event)
