// What consolidation reads of a turn or an episode `p`. Leaves `passage`.

LET passage = {
  label: CASE WHEN p:Turn THEN 'Turn' ELSE 'Episode' END,
  episode_id: coalesce(p.episode_id, p.id),
  name: p.name,
  role: p.role,
  at: p.occurred_at,
  // Of a compressed episode the full text, so that nothing depends on when it was compressed. An import may lack the archive.
  text: coalesce(p.text, p.summary, p.content, [(p)-[:ARCHIVED_AS]->(a:Archive {tenant: $tenant}) | a.content][0], '')
}
