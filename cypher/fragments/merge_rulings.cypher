// Add rulings to a tombstone `r` of a value, and sort all of them by time. A ruling that it has is not added again.
// needs: r, given (a list of maps: id of the event, at, known_at, rejects, path)

CALL (r, given) {
  UNWIND [i IN range(0, size(coalesce(r.event_ids, [])) - 1) |
    {id: r.event_ids[i], at: r.at[i], known_at: r.known_at[i], rejects: r.rejects[i], path: r.paths[i]}
  ] + given AS ruling
  WITH ruling
  // One that came twice has the shortest way.
  ORDER BY size(ruling.path), ruling.path
  WITH ruling.id AS id, collect(ruling)[0] AS ruling
  ORDER BY ruling.at, id
  WITH collect(ruling) AS rulings
  SET r.event_ids = [x IN rulings | x.id], r.at = [x IN rulings | x.at], r.known_at = [x IN rulings | x.known_at],
      r.rejects = [x IN rulings | x.rejects], r.paths = [x IN rulings | x.path]
}
