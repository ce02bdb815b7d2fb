// BM25 with the tenant and the scope inside the Lucene query, as digests an analyser cannot split.
// mode: schema

CREATE FULLTEXT INDEX memory_content_fulltext IF NOT EXISTS
FOR (n:Memory) ON EACH [n.content, n.tenant_key, n.scope_key, n.status]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};

CREATE FULLTEXT INDEX turn_text_fulltext IF NOT EXISTS
FOR (n:Turn) ON EACH [n.text, n.name, n.tenant_key, n.scope_key]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};
