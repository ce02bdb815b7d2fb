// Items that agents keep under namespaces: one node a key, one a namespace, which lists are read from by prefix and by
// suffix; and the texts that an item is found by, each with a vector.
// mode: schema
// params:
//   $vector_options  map  similarity, quantisation and the model's dimension

CREATE CONSTRAINT item_id_unique IF NOT EXISTS
FOR (n:Item) REQUIRE (n.tenant, n.id) IS UNIQUE;

CREATE CONSTRAINT namespace_id_unique IF NOT EXISTS
FOR (n:Namespace) REQUIRE (n.tenant, n.id) IS UNIQUE;

CREATE INDEX namespace_path_range IF NOT EXISTS
FOR (n:Namespace) ON (n.tenant, n.scope, n.path);

CREATE INDEX namespace_reversed_range IF NOT EXISTS
FOR (n:Namespace) ON (n.tenant, n.scope, n.reversed);

CREATE INDEX item_expires_at_range IF NOT EXISTS
FOR (n:Item) ON (n.tenant, n.scope, n.expires_at);

CREATE VECTOR INDEX item_text_embedding_vector IF NOT EXISTS
FOR (n:ItemText) ON n.embedding
WITH [n.tenant, n.scope, n.path]
OPTIONS $vector_options;
