// Return the ratings of earlier times after decay until then. No row: nothing is rated.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $ratings  list  maps: elo, touched_at and at, the time of the rating
// columns:
//   - n    integer  place in $ratings
//   - elo  float    rating after decay

MATCH (:Rater {tenant: $tenant})
UNWIND range(0, size($ratings) - 1) AS n
LET g = $ratings[n], valid = $ratings[n].at
// include: fragments/rating_decayed.cypher
RETURN n, elo
ORDER BY n
