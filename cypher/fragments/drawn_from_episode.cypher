// Match `e`, the evidence that consolidation drew from whole episodes of the turns to erase alone: their text holds
// the words of these turns.
// leaves: e

UNWIND $turns AS id
MATCH (:Turn {tenant: $tenant, id: id})-[:OCCURRED_IN]->(:Episode {tenant: $tenant})<-[:OCCURRED_IN]-(e:Event {tenant: $tenant, source: 'consolidation'})
WHERE NOT EXISTS { (e)-[:QUOTES]->(:Turn {tenant: $tenant}) }
