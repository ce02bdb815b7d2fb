// What was last said, as far as $known, of what the name `n` stands for. Needs `n`; gives a row: a folded name, or null when it
// stands for itself again. By (occurred_at, id), and for every valid time: it says how somebody is called, and not since when.
// Twin: oracles/names.py canonical

MATCH (n)<-[:CONCERNS]-(naming:Event)
WHERE naming.tenant = $tenant AND ($known IS NULL OR naming.recorded_at <= $known)
RETURN naming.same_as
ORDER BY naming.occurred_at DESC, naming.id DESC
LIMIT 1
