// Keep the beliefs `m` that may be hidden. A belief that nothing superseded, archived or rejected is current and needs no further
// reads.
// needs: m

FILTER m.rulings IS NOT NULL OR EXISTS { (m)<-[:SUPERSEDES]-() } OR EXISTS { MATCH (m)<-[:CONCERNS]-(archiving:Event) WHERE archiving.type = 'ARCHIVE' }
