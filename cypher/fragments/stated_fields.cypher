// Return which of summary, entities and importance of `p`, an episode, a caller gave. Episodes of older releases do not
// record this: a value that differs from the default of that time was given.
// needs: p
// leaves: stated

LET stated = coalesce(p.stated, [x IN [
  {name: 'summary', given: p.summary IS NOT NULL}, {name: 'entities', given: size(p.entities) > 0}, {name: 'importance', given: p.importance <> 0.5}
] WHERE x.given | x.name])
