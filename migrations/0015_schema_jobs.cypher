// Background jobs: one lease for each tenant and job.
// mode: schema
// params:

CREATE CONSTRAINT job_name_unique IF NOT EXISTS
FOR (n:Job) REQUIRE (n.tenant, n.name) IS UNIQUE;

CREATE CONSTRAINT job_unit_id_unique IF NOT EXISTS
FOR (n:JobUnit) REQUIRE (n.tenant, n.id) IS UNIQUE;
