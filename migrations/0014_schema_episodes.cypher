// BM25 over episodes, with the tenant and the scope as in 0003 and the language as in 0006.
// mode: schema
// params:
//   $fulltext_options  map  the analyser

DROP INDEX episode_summary_fulltext IF EXISTS;

CREATE FULLTEXT INDEX episode_summary_fulltext IF NOT EXISTS
FOR (n:Episode) ON EACH [n.summary, n.content, n.gist, n.entities, n.tenant_key, n.scope_key]
OPTIONS $fulltext_options;
