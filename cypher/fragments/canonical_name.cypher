// Return what the name `n` is an alias of, as of $known. One row: a folded name, or null if it is no longer an alias.
// The newest event by (occurred_at, id) applies, at every valid time, because an alias has no start date.
// needs: n
// twin: oracles/names.py canonical

MATCH (n)<-[:CONCERNS]-(naming:Event)
WHERE naming.tenant = $tenant AND ($known IS NULL OR naming.recorded_at <= $known)
RETURN naming.same_as
ORDER BY naming.occurred_at DESC, naming.id DESC
LIMIT 1
