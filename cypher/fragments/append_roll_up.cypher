// Append a ROLL_UP event, unless there is one of the same entries: an import may bring the event or, from an older file, its
// entries.
// needs: event
// leaves: e

FILTER NOT EXISTS { MATCH (counted:Event {tenant: $tenant, id: event.id}) WHERE counted.type = 'ROLL_UP' }
// include: fragments/append_event.cypher
