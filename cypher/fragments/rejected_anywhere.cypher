// Decide by all rulings about `m`, a memory or a belief, whether it is rejected in its own scope, by the rulings of this
// scope and of the global one, and whether it is rejected for every reader. A reader of another scope that takes the
// rejection back makes the difference.
// needs: m
// leaves: rejected_here, rejected_for_all (booleans)
// twin: oracles/rulings.py

LET here = [i IN range(0, coalesce(size(m.rulings), 0) - 1) WHERE m.ruled_scopes[i] IN [m.scope, 'global']]
LET rejected_here = any(i IN here WHERE m.rulings[i] AND none(j IN here WHERE
  j > i AND NOT m.rulings[j] AND m.ruled_paths[i] STARTS WITH m.ruled_paths[j]
)), rejected_for_all = any(i IN here WHERE m.rulings[i] AND none(j IN range(i + 1, size(m.rulings) - 1) WHERE
  NOT m.rulings[j] AND m.ruled_paths[i] STARTS WITH m.ruled_paths[j]
))
