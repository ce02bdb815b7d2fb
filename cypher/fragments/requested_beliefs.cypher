// Match the requested beliefs: those with $ids, or all in $scopes created at or before $valid. Leaves rows of `m` and
// `place`, their order.
// leaves: m, place

CALL () {
  UNWIND range(0, size(coalesce($ids, [])) - 1) AS place
  MATCH (m:Belief {tenant: $tenant, id: $ids[place]})
  WHERE m.scope IN $scopes
  RETURN m, place
UNION ALL
  // A filter by $ids in one query would run after the scan of every belief.
  UNWIND CASE WHEN $ids IS NULL THEN $scopes ELSE [] END AS scope
  MATCH (m:Belief)
  // The cached created_at comes from all events: a created_at from the visible events is never earlier.
  WHERE m.tenant = $tenant AND m.scope = scope AND m.created_at <= $valid
  RETURN m, 0 AS place
}
