// Keep the beliefs `m` that may be hidden. A belief that nothing superseded or archived is current and needs no further
// reads.
// needs: m

FILTER EXISTS { (m)<-[:SUPERSEDES]-() } OR EXISTS { MATCH (m)<-[:CONCERNS]-(archiving:Event) WHERE archiving.type = 'ARCHIVE' }
