// Select the best candidates of a MANY slot.
// needs: b, projected
// leaves: n_many (the total number, or null), many (a list of [b, map])

WITH b, projected
ORDER BY projected.belief DESC, projected.last_at IS NOT NULL DESC, projected.last_at DESC, b.id DESC
WITH collect({b: b, projected: projected}) AS found
UNWIND found[..$limit] AS x
WITH size(found) AS total, x.b AS b, x.projected AS projected
WITH max(total) AS n_many, collect([b, projected {
  .belief, .positive, .negative, .log_positive, .log_negative, .supporting_episodes, .refuting_episodes, .contested,
  .last_at, .events, score: projected.belief, ambiguous: false
}]) AS many
