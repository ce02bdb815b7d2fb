// Of rows of `m`, a belief, those that something may hide: what nothing superseded or archived is current, and is not looked at
// more closely. Needs `m`.

FILTER EXISTS { (m)<-[:SUPERSEDES]-() } OR EXISTS { MATCH (m)<-[:CONCERNS]-(archiving:Event) WHERE archiving.type = 'ARCHIVE' }
