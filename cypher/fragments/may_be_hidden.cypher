// Keep the beliefs and memories `m` that may be hidden. One that nothing superseded, archived, deprecated or rejected is current
// and needs no further reads.
// needs: m

FILTER m.rulings IS NOT NULL OR EXISTS { (m)<-[:SUPERSEDES]-() } OR EXISTS { MATCH (m)<-[:CONCERNS]-(hiding:Event) WHERE hiding.type IN ['ARCHIVE', 'DEPRECATE'] }
