// Mark echoes among the evidence of a belief. All evidence is in `pieces`, oldest first, with echo_of. This is the
// strongest event of the same episode and polarity, on a tie the first; null for that event itself.
// needs: heard, c, l, s
// leaves: pieces
// twin: oracles/projection.py many

WITH heard {.*, c: c, l: l, s: s} AS piece
ORDER BY piece.l, piece.at, piece.id
WITH piece.polarity AS polarity, piece.episode AS episode, CASE WHEN piece.episode IS NULL THEN piece.id END AS alone,
     collect(piece) AS same
UNWIND range(0, size(same) - 1) AS i
WITH same[i] AS piece, CASE WHEN i > 0 THEN same[0].id END AS echo_of
ORDER BY piece.at, piece.id
WITH collect(piece {.*, echo_of: echo_of}) AS pieces
