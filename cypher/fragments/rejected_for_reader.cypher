// Decide whether `node`, a memory or a belief, is rejected for the reader as of ($valid, $known): by a ruling of one of
// $scopes or of the global scope that no newer one lifts. One lifts those about the same sentence that were recorded
// where it was, or imported there.
// needs: node
// leaves: reader_rejects (boolean)
// twin: oracles/rulings.py

LET reader_rejects = node.rulings IS NOT NULL AND any(seen IN [[
  i IN range(0, size(node.rulings) - 1)
  WHERE node.ruled_scopes[i] IN $scopes + 'global' AND node.ruled_at[i] <= $valid AND ($known IS NULL OR node.ruled_known[i] <= $known)
]] WHERE any(i IN seen WHERE node.rulings[i] AND none(j IN seen WHERE
  j > i AND NOT node.rulings[j] AND node.ruled_paths[i] STARTS WITH node.ruled_paths[j]
)))
