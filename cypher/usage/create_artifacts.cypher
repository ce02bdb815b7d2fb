// Create nodes for the files, symbols and documents that agents accessed, each once.
// mode: write
// rows: none
// plan: MergeUniqueNode
// params:
//   $artifacts  list  maps: id, scope, kind (file, symbol or document), ref
// columns:

UNWIND $artifacts AS artifact
MERGE (n:Artifact {tenant: $tenant, id: artifact.id})
ON CREATE SET n.scope = artifact.scope, n.kind = artifact.kind, n.ref = artifact.ref,
              n.recorded_at = datetime.truncate('microsecond', datetime.realtime('Z'))
