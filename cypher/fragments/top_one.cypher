// Select the best candidates of a ONE slot.
// needs: ranked, close
// leaves: n_one (the total number, or null), one (a list of [b, map])

LET one = [i IN range(0, size(ranked[..$limit]) - 1) | [ranked[i].b, {
  score: ranked[i].score, belief: ranked[i].belief, last_at: ranked[i].last_at, last_id: ranked[i].last_id,
  events: ranked[i].events, ambiguous: close AND i < 2
}]]
LET n_one = nullIf(size(ranked), 0)
