// Keep items that have not expired. Needs `i`, an Item, and $valid.
// needs: i

FILTER i.expires_at IS NULL OR i.expires_at > $valid
