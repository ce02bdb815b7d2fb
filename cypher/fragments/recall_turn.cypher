// Build the output of a found turn. Needs `hit`, a map of kind and n; leaves `of`, a map.
// needs: hit
// leaves: of

FILTER hit.kind = 'turn'
WITH hit.n AS n
RETURN {item: n {
  .id, .episode_id, .position, .role, .name, .text, occurred_at: toString(n.occurred_at), recorded_at: toString(n.recorded_at)
}} AS of
