// The full-text indexes again: words by the setting's language, and memories by tag and source, as digests like those of the wall.
// They are dropped first, so that applying this file anew gives them another language.
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
