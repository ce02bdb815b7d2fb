// Create the missing nodes of one kind from an export.
// mode: write
// rows: one
// writes_ids: nodes.key kind, nodes.has.decided.beliefs.id Belief
// refers_to: nodes.has.episode_id Episode, nodes.has.first_id Event
// params:
//   $kind   string  Episode, Archive, Turn, Reply, Artifact, Item, Belief or Memory
//   $nodes  list    maps: key, has (properties), embedding or null, and derived properties: tenant_key, scope_key, facet_keys, slot_id, facets
// columns:
//   - written  integer  number of nodes created

UNWIND $nodes AS row
LET has = row.has
CALL (row, has) {
  FILTER $kind = 'Episode'
  CREATE (n:Episode {tenant: $tenant, id: row.key, scope: has.scope, session_id: has.session_id, summary: has.summary,
    content: has.content, gist: has.gist, entities: has.entities, importance: has.importance, stated: has.stated,
    summarised_turns: has.summarised_turns, summarised_by: has.summarised_by,
    turns_compressed: has.turns_compressed, erased_turns: has.erased_turns, trust: has.trust, tenant_key: row.tenant_key,
    scope_key: row.scope_key, request_hash: has.request_hash, occurred_at: has.occurred_at, recorded_at: has.recorded_at})
  RETURN n
UNION ALL
  FILTER $kind = 'Archive'
  CREATE (n:Archive {tenant: $tenant, id: row.key, scope: has.scope, episode_id: has.episode_id, content: has.content,
    sha256: has.sha256, recorded_at: has.recorded_at})
  RETURN n
UNION ALL
  FILTER $kind = 'Turn'
  CREATE (n:Turn {tenant: $tenant, id: row.key, tenant_key: row.tenant_key, scope_key: row.scope_key, scope: has.scope,
    episode_id: has.episode_id, position: has.position, role: has.role, name: has.name, text: has.text, compressed: has.compressed, trust: has.trust,
    occurred_at: has.occurred_at, time_zone: has.time_zone, recorded_at: has.recorded_at})
  RETURN n
UNION ALL
  FILTER $kind = 'Reply'
  CREATE (n:Reply {tenant: $tenant, id: row.key, scope: has.scope, kind: has.kind, done: has.done, attempts: has.attempts,
    synthesiser: has.synthesiser, known: has.known, decided: has.decided, raw: has.raw, problem: has.problem, calls: has.calls,
    tokens_in: has.tokens_in, tokens_out: has.tokens_out, cost_usd: has.cost_usd, recorded_at: has.recorded_at})
  RETURN n
UNION ALL
  FILTER $kind = 'Artifact'
  CREATE (n:Artifact {tenant: $tenant, id: row.key, scope: has.scope, kind: has.kind, ref: has.ref, recorded_at: has.recorded_at})
  RETURN n
UNION ALL
  FILTER $kind = 'Item'
  CREATE (n:Item {tenant: $tenant, id: row.key, facets: row.facets, scope: has.scope, key: has.key, value: has.value,
    created_at: has.created_at, updated_at: has.updated_at, creation_order: has.creation_order, ttl_minutes: has.ttl_minutes,
    expires_at: has.expires_at})
  RETURN n
UNION ALL
  FILTER $kind = 'Belief'
  CREATE (n:Belief {tenant: $tenant, id: row.key, tenant_key: row.tenant_key, scope_key: row.scope_key, slot_id: row.slot_id,
    scope: has.scope, statement: has.statement, subject: has.subject, predicate: has.predicate, object: has.object,
    subject_key: has.subject_key, predicate_key: has.predicate_key, object_key: has.object_key, status: has.status,
    value_key: row.value_key, statement_key: row.statement_key, unembedded: has.unembedded, created_at: has.created_at, recorded_at: has.recorded_at, worded_at: has.worded_at,
    first_id: has.first_id, depth: has.depth})
  RETURN n
UNION ALL
  FILTER $kind = 'Memory'
  CREATE (n:Memory {tenant: $tenant, id: row.key, tenant_key: row.tenant_key, scope_key: row.scope_key,
    facet_keys: row.facet_keys, value_key: row.value_key, scope: has.scope, content: has.content, content_hash: has.content_hash, tags: has.tags,
    sources: has.sources, status: has.status, created_at: has.created_at, recorded_at: has.recorded_at, trace: has.trace,
    trace_at: has.trace_at, trace_full_at: has.trace_full_at, trace_burst: has.trace_burst, trace_foreign: has.trace_foreign})
  RETURN n
}
CALL (n) {
  WITH n AS m
  // include: fragments/take_rulings.cypher
}
CALL (n, row) {
  FILTER row.embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(n, 'embedding', row.embedding)
  SET n.token_states = row.token_states
}
RETURN count(n) AS written
