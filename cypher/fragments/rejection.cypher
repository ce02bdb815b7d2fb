// Look up the rejection in force of one of the values with these keys, for a reader of $scopes and the global scope, as of
// (`until`, `recorded`): see fragments/rejected_for_reader.cypher.
// needs: value_keys, until, recorded (upper bounds of valid and known time; null: none)
// leaves: standing (the rulings in force that reject, oldest first: maps of id, at, rejects, path), ruled_at (time of
// the newest ruling; null: none), rejection (a map: event_id, rejected_at, actor and payload of the event; null if no
// value is rejected)
// twin: oracles/rulings.py

LET rulings = COLLECT {
  MATCH (known:Rejection)
  WHERE known.tenant = $tenant AND known.value_key IN value_keys AND known.scope IN $scopes + 'global'
  UNWIND [i IN range(0, size(known.rejects) - 1)
    WHERE (until IS NULL OR known.at[i] <= until) AND (recorded IS NULL OR known.known_at[i] <= recorded)
  ] AS i
  WITH known.at[i] AS at, known.event_ids[i] AS id, known.rejects[i] AS rejects, known.value_key + known.paths[i] AS path
  ORDER BY at, id, path
  RETURN {id: id, at: at, rejects: rejects, path: path}
}
LET ruled_at = rulings[-1].at, standing = [i IN range(0, size(rulings) - 1)
  WHERE rulings[i].rejects AND none(j IN range(i + 1, size(rulings) - 1) WHERE
    NOT rulings[j].rejects AND rulings[i].path STARTS WITH rulings[j].path
  ) | rulings[i]
]
LET rejection = CASE WHEN size(standing) > 0 THEN COLLECT {
  OPTIONAL MATCH (x:Event {tenant: $tenant, id: standing[-1].id})
  RETURN {event_id: standing[-1].id, rejected_at: standing[-1].at, actor: x.actor, payload: x.payload}
}[0] END
