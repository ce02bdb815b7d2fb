// Keep items that have not expired.
// needs: i (an Item)

FILTER i.expires_at IS NULL OR i.expires_at > $valid
