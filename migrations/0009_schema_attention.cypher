// What agents touch beside memory, how sessions end one after another, and what the log makes of it: ratings.
// mode: schema

CREATE CONSTRAINT artifact_id_unique IF NOT EXISTS
FOR (n:Artifact) REQUIRE (n.tenant, n.id) IS UNIQUE;

CREATE CONSTRAINT rater_tenant_unique IF NOT EXISTS
FOR (n:Rater) REQUIRE n.tenant IS UNIQUE;

CREATE CONSTRAINT rating_id_unique IF NOT EXISTS
FOR (n:Rating) REQUIRE (n.tenant, n.kind, n.id) IS UNIQUE;

CREATE INDEX rating_elo_range IF NOT EXISTS
FOR (n:Rating) ON (n.tenant, n.elo);

CREATE INDEX event_position_range IF NOT EXISTS
FOR (n:Event) ON (n.tenant, n.position);

CREATE INDEX event_type_range IF NOT EXISTS
FOR (n:Event) ON (n.tenant, n.type, n.recorded_at);
