// Why a belief is believed: the policy it is read by, every piece of its evidence with what that says in each reading, what was
// taken back, how it stands among the values of a ONE slot, what it replaced and what replaced it, and what asserts it.
// mode: read
// rows: one
// source: ESPER, Mneva; twins rules/projection.py, rules/sequential.py, rules/retraction.py
// plan: NodeUniqueIndexSeek
// params:
//   $tenant          string    whose
//   $scopes          list      scopes the reader can see
//   $id              string    of the belief
//   $valid           datetime  instant in the world that is asked about
//   $known           datetime  what was recorded later is not seen; null: everything
//   $policy          map       to read by; null: as declared
//   $present_policy  boolean   read by the policy declared by now, and not by that of $valid and $known
//   $default_policy  map       of a predicate that nobody declared
//   $weights         map       reliability of each source type, in (0, 1]
//   $test            map       upper, lower, promote_step, demote_step, most, least
//   $skip            integer   pieces to pass over, the oldest
//   $limit           integer   pieces to show; of what was taken back and of what asserts it as many at most
// columns:
//   - card       map       id, scope, statement, subject, predicate, object, status, created_at, recorded_at
//   - initial    float     confidence before any evidence
//   - policy     map       by which it was read; id and occurred_at when it was declared
//   - projected  map       see fragments/project_many.cypher; null: no evidence
//   - one        map       of a ONE slot's value: see fragments/project_one.cypher; place, of, ambiguous, leader_id; null otherwise
//   - rivals     list      maps of the other values affirmed since: belief_id, object, events; most events first
//   - verdict    map       status, log_ratio, confidence, evidence
//   - total      integer   how many pieces there are
//   - lines      list      maps, oldest first: id, at, polarity, episode, strength, llr, c, l, s, echo_of, event, weight, turn_id, memory_id, after
//   - withdrawn  list      maps, oldest first: id, at, polarity, confidence, source_type, retraction_id, retracted_at, payload
//   - links      list      maps: newer, belief_id, statement, event_id, occurred_at, recorded_at, in_force, payload
//   - memories   list      maps, oldest first: memory_id, content
//   - now        datetime  the server's clock

MATCH (asked:Belief {tenant: $tenant, id: $id})
WHERE asked.scope IN $scopes AND EXISTS {
  MATCH (asked)<-[:SUPPORTS|REFUTES|CONCERNS]-(x:Event)
  WHERE x.occurred_at <= $valid AND ($known IS NULL OR x.recorded_at <= $known)
}
WITH asked, asked AS b, $valid AS valid, coalesce(asked.predicate_key, '') AS predicate_key
// include: fragments/initial.cypher
// include: fragments/policy.cypher
CALL (asked, valid, policy) {
  MATCH (asked)<-[:SUPPORTS|REFUTES]-(e:Event)
  // include: fragments/counted.cypher
  // include: fragments/says.cypher
  // include: fragments/weighs.cypher
  CALL (e) {
    // include: fragments/heard.cypher
    RETURN heard
  }
  WITH heard {.*, c: c, l: l, s: s} AS piece
  ORDER BY piece.l, piece.at, piece.id
  WITH piece.polarity AS polarity, coalesce('in ' + piece.episode, 'alone ' + piece.id) AS episode, collect(piece) AS same
  UNWIND range(0, size(same) - 1) AS i
  WITH same[i] AS piece, CASE WHEN i > 0 THEN same[0].id END AS echo_of
  ORDER BY piece.at, piece.id
  RETURN collect(piece {.*, echo_of: echo_of}) AS pieces
}
WITH *, pieces[$skip..$skip + $limit] AS page
WITH *, CASE WHEN size(page) > 0 THEN [page[0].at, page[-1].at] ELSE [] END AS shown
CALL (asked, pieces, policy) {
  UNWIND pieces AS piece
  WITH asked AS b, piece.event AS e, piece.l AS l, false AS covered
  // include: fragments/beside_others.cypher
  // include: fragments/project_many.cypher
  RETURN collect(projected)[0] AS projected
}
CALL (pieces, initial, shown) {
  UNWIND pieces AS heard
  // include: fragments/sequential.cypher
  RETURN verdict, steps
}
CALL (asked, valid, policy) {
  FILTER policy.cardinality = 'ONE' AND asked.subject_key IS NOT NULL
  MATCH (b:Belief {
    tenant: $tenant, scope: asked.scope, subject_key: asked.subject_key, predicate_key: asked.predicate_key
  })
  MATCH (b)<-[:SUPPORTS|REFUTES]-(e:Event)
  // include: fragments/counted.cypher
  // include: fragments/weighs.cypher
  // include: fragments/among_others.cypher
  // include: fragments/project_one.cypher
  UNWIND [i IN range(0, size(ranked) - 1) WHERE ranked[i].b = asked] AS i
  WITH ranked[i] AS v, i, ranked, close
  RETURN collect(v {
    .affirmed, .left, .pressure, .last_id, .last_at, .score, .belief,
    place: i + 1, of: size(ranked), ambiguous: close AND i < 2, leader_id: ranked[0].b.id
  })[0] AS one
}
CALL (asked, valid, one) {
  MATCH (b:Belief {
    tenant: $tenant, scope: asked.scope, subject_key: asked.subject_key, predicate_key: asked.predicate_key
  })<-[:SUPPORTS]-(e:Event)
  WHERE b <> asked AND e.occurred_at > one.last_at
  // include: fragments/counted.cypher
  WITH b, count(*) AS events
  ORDER BY events DESC, b.id
  RETURN collect(b {belief_id: b.id, .object, events: events}) AS rivals
}
CALL (asked, valid) {
  MATCH (asked)<-[:SUPPORTS|REFUTES]-(x:Event)
  WHERE EXISTS { (x)<-[:RETRACTS]-() } AND x.occurred_at <= valid AND ($known IS NULL OR x.recorded_at <= $known)
  CALL (x, valid) {
    WITH x AS e
    // include: fragments/counted.cypher
    RETURN count(e) AS stays
  }
  FILTER stays = 0
  MATCH way = (x)<-[:RETRACTS*1..]-(r:Event)
  WHERE $known IS NULL OR all(y IN nodes(way)[1..] WHERE y.recorded_at <= $known)
  WITH x, r
  ORDER BY r.occurred_at DESC, r.id DESC
  WITH x, head(collect(r)) AS r
  ORDER BY x.occurred_at, x.id
  LIMIT $limit
  RETURN collect(x {
    .id, .polarity, .confidence, .source_type, at: x.occurred_at,
    retraction_id: r.id, retracted_at: r.recorded_at, payload: r.payload
  }) AS withdrawn
}
CALL (page, steps) {
  UNWIND page AS x
  WITH x, x.event AS e
  RETURN collect(x {
    .id, .at, .polarity, .episode, .strength, .llr, .c, .l, .s, .echo_of,
    event: e {.type, .recorded_at, .confidence, .source_type, .source, .actor, .payload},
    weight: $weights[e.source_type], after: head([step IN steps WHERE step[0] = x.at]),
    turn_id: head([(e)-[:QUOTES]->(turn:Turn {tenant: $tenant}) | turn.id]),
    memory_id: head([(e)-[:REINFORCES]->(m:Memory {tenant: $tenant}) | m.id])
  }) AS lines
}
// include: fragments/around.cypher
RETURN asked {
  .id, .scope, .statement, .subject, .predicate, .object, .status, .created_at, .recorded_at
} AS card, initial, policy, projected, one, rivals, verdict, size(pieces) AS total, lines, withdrawn, links, memories,
datetime.realtime('Z') AS now
