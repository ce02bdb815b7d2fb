// Keep the evidence of values that are not rejected for the reader at (`valid`, $known), by the rule of
// fragments/rejected_for_reader.cypher. A value is rejected if one of its beliefs is, under any alias.
// needs: member (of fragments/slot_evidence.cypher), valid
// twin: oracles/rulings.py

FILTER none(y IN member.ruled WHERE any(seen IN [[
  i IN range(0, size(y.rulings) - 1)
  WHERE y.ruled_scopes[i] IN $scopes + 'global' AND y.ruled_at[i] <= valid AND ($known IS NULL OR y.ruled_known[i] <= $known)
]] WHERE any(i IN seen WHERE y.rulings[i] AND none(j IN seen WHERE j > i AND NOT y.rulings[j] AND y.ruled_paths[i] STARTS WITH y.ruled_paths[j]))))
