// Keep the namespaces that meet every condition and contain an item, and return their labels once, cut to a depth.
// needs: n (a Namespace)
// leaves: namespace

FILTER all(c IN $conditions WHERE size(c.path) <= n.depth AND all(
    at IN range(0, size(c.path) - 1)
    WHERE c.path[at] = '*' OR c.path[at] = n.parts[at + CASE c.from_end WHEN true THEN n.depth - size(c.path) ELSE 0 END]
  ))
  AND EXISTS {
    MATCH (n)<-[:STANDS_IN]-(i:Item {tenant: $tenant})
    WHERE i.expires_at IS NULL OR i.expires_at > $valid
  }
WITH DISTINCT CASE WHEN $depth IS NULL THEN n.parts ELSE n.parts[..$depth] END AS namespace
ORDER BY namespace
SKIP $skip
LIMIT $limit
