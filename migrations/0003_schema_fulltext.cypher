// BM25. Tenant, scope, tags and sources are inside the Lucene query, as digests that an analyser cannot split.
// The indexes are dropped first: this file alone is applied again to change the language.
// mode: schema
// params:
//   $fulltext_options  map  the analyser

DROP INDEX memory_content_fulltext IF EXISTS;

CREATE FULLTEXT INDEX memory_content_fulltext IF NOT EXISTS
FOR (n:Memory) ON EACH [n.content, n.tenant_key, n.scope_key, n.status, n.facet_keys]
OPTIONS $fulltext_options;

DROP INDEX belief_statement_fulltext IF EXISTS;

CREATE FULLTEXT INDEX belief_statement_fulltext IF NOT EXISTS
FOR (n:Belief) ON EACH [n.statement, n.tenant_key, n.scope_key, n.status]
OPTIONS $fulltext_options;

DROP INDEX turn_text_fulltext IF EXISTS;

CREATE FULLTEXT INDEX turn_text_fulltext IF NOT EXISTS
FOR (n:Turn) ON EACH [n.text, n.name, n.tenant_key, n.scope_key]
OPTIONS $fulltext_options;

DROP INDEX episode_summary_fulltext IF EXISTS;

CREATE FULLTEXT INDEX episode_summary_fulltext IF NOT EXISTS
FOR (n:Episode) ON EACH [n.summary, n.content, n.gist, n.entities, n.tenant_key, n.scope_key]
OPTIONS $fulltext_options;
