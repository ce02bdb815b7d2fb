// Build the consolidation input of `p`, a turn or an episode.
// needs: p
// leaves: passage

LET passage = {
  label: CASE WHEN p:Turn THEN 'Turn' ELSE 'Episode' END,
  episode_id: coalesce(p.episode_id, p.id),
  name: p.name,
  role: p.role,
  at: p.occurred_at,
  // A compressed episode contributes its full text, so the result does not depend on the time of compression. An import
  // may lack the archive.
  text: coalesce(p.text, p.summary, p.content, [(p)-[:ARCHIVED_AS]->(a:Archive {tenant: $tenant}) | a.content][0], '')
}
