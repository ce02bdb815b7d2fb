// Vector search with tenant and scope inside the index search. Unquantised: BINARY, the server's default,
// found 0.66 of the exact top 200 among 20,000 vectors of 384 dimensions, NONE 0.94.
// mode: schema
// params:
//   $vector_options  map  similarity, quantisation and the model's dimension

CREATE VECTOR INDEX memory_embedding_vector IF NOT EXISTS
FOR (n:Memory) ON n.embedding
WITH [n.tenant, n.scope, n.status, n.recorded_at, n.created_at]
OPTIONS $vector_options;

CREATE VECTOR INDEX turn_embedding_vector IF NOT EXISTS
FOR (n:Turn) ON n.embedding
WITH [n.tenant, n.scope, n.recorded_at, n.occurred_at]
OPTIONS $vector_options;

CREATE VECTOR INDEX belief_embedding_vector IF NOT EXISTS
FOR (n:Belief) ON n.embedding
WITH [n.tenant, n.scope, n.status, n.recorded_at, n.created_at]
OPTIONS $vector_options;

CREATE VECTOR INDEX episode_embedding_vector IF NOT EXISTS
FOR (n:Episode) ON n.embedding
WITH [n.tenant, n.scope, n.recorded_at, n.occurred_at]
OPTIONS $vector_options;

CREATE VECTOR INDEX item_text_embedding_vector IF NOT EXISTS
FOR (n:ItemText) ON n.embedding
WITH [n.tenant, n.scope, n.path]
OPTIONS $vector_options;
