// Compute the relevance of each candidate to a question, without belief. Needs the results of
// fragments/recall_parts.cypher, and $scoring, $query_words, $dates, $human_roles; leaves rows of `x`, a map (kind, n, trace,
// vector_score, vector_rank, bm25, bm25_rank), `parts`, a map of the parts of the score, `relevance`, factor * sum of
// the others, and `score`.
// needs: x, vector_score, vector_rank, bm25, bm25_rank, meaning, words, late, late_context, recency, access
// leaves: x, parts, relevance, score
// twin: oracles/blending.py around and session

WITH collect(x {
  .*, vector_score: vector_score, vector_rank: vector_rank, bm25: bm25, bm25_rank: bm25_rank,
  meaning: meaning, words: words, late: late, late_context: late_context, recency: recency, access: access
}) AS candidates
CALL (candidates) {
  UNWIND [c IN candidates WHERE c.kind <> 'turn'] AS x
  RETURN x, 0.0 AS around, 0.0 AS session
UNION ALL
  UNWIND [c IN candidates WHERE c.kind = 'turn'] AS c
  WITH c, c.meaning + c.words + c.late + c.late_context AS own
  WITH c.n.episode_id AS episode_id, collect({c: c, own: own}) AS turns, max(own) AS best
  UNWIND turns AS t
  // Neighbouring turns provide context, so each turn adds a share of its score to its neighbours.
  UNWIND range(-$scoring.reach, $scoring.reach) AS away
  WITH episode_id, t.c.n.position + away AS position, best,
       sum(CASE away WHEN 0 THEN 0.0 ELSE t.own * $scoring.around ^ abs(away) END) AS around,
       head(collect(CASE away WHEN 0 THEN t END)) AS t
  FILTER t IS NOT NULL
  // The answer is often in the session of the best match, in other words.
  RETURN t.c AS x, around, $scoring.session * (best - t.own) AS session
}
WITH x, x.n AS n, around, session
WITH x, around, session, CASE
  // A person matches by one name; the subject of a belief matches only if all its words occur.
  WHEN x.kind = 'turn' AND any(word IN split(toLower(n.name), ' ') WHERE word IN $query_words) THEN $scoring.named
  WHEN x.kind = 'belief' AND all(word IN split(n.subject_key, ' ') WHERE word IN $query_words) THEN $scoring.named
  ELSE 0.0
END AS named, CASE
  WHEN any(span IN $dates WHERE span[0] <= coalesce(n.occurred_at, n.created_at) AND coalesce(n.occurred_at, n.created_at) < span[1]) THEN $scoring.dated
  ELSE 0.0
END AS dated, CASE WHEN x.kind = 'turn' AND NOT toLower(n.role) IN $human_roles THEN $scoring.machine ELSE 1.0 END AS factor
WITH x, around, session, named, dated, factor,
     factor * (x.meaning + x.words + x.late + x.late_context + x.recency + x.access + around + session + named + dated) AS relevance
WITH x, x {.meaning, .words, .late, .late_context, .recency, .access, around: around, session: session, named: named, dated: dated, factor: factor} AS parts, relevance,
     CASE WHEN $scoring.adds AND x.kind <> 'belief' THEN $scoring.blend * relevance + (1 - $scoring.blend) * $scoring.unproven ELSE relevance END AS score
