// Return the newest seal of a tenant; no row if it has none.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// columns:
//   - id      string    its number, 12 digits
//   - digest  string    its digest
//   - until   datetime  recording time up to which every event is sealed

MATCH (s:Seal) WHERE s.tenant = $tenant AND s.id > ''
RETURN s.id AS id, s.digest AS digest, s.sealed_until AS until
ORDER BY s.tenant DESC, s.id DESC
LIMIT 1
