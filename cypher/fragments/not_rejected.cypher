// Keep the evidence of values that are not rejected at (`valid`, $known). A value is rejected if one of its beliefs is,
// under any alias.
// needs: member (of fragments/slot_evidence.cypher), valid

FILTER [] = [y IN member.ruled WHERE [
  i IN range(0, size(y.rulings) - 1) WHERE y.ruled_at[i] <= valid AND ($known IS NULL OR y.ruled_known[i] <= $known) | y.rulings[i]
][-1]]
