// The pieces of a belief's evidence, each with the one whose echo it is. Needs rows of `heard` (fragments/heard), `c`, `l`
// (fragments/says) and `s` (fragments/weighs); leaves `pieces`, a list of maps of them all, oldest first, with echo_of: the event
// that says most in its episode with its polarity, the first of several; null where that is itself. Twin: oracles/projection.py many

WITH heard {.*, c: c, l: l, s: s} AS piece
ORDER BY piece.l, piece.at, piece.id
WITH piece.polarity AS polarity, piece.episode AS episode, CASE WHEN piece.episode IS NULL THEN piece.id END AS alone,
     collect(piece) AS same
UNWIND range(0, size(same) - 1) AS i
WITH same[i] AS piece, CASE WHEN i > 0 THEN same[0].id END AS echo_of
ORDER BY piece.at, piece.id
WITH collect(piece {.*, echo_of: echo_of}) AS pieces
