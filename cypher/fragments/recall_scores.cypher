// Compute the relevance of each candidate to a question, without belief. Needs the results of
// fragments/recall_parts.cypher, and $scoring, $query_words, $dates, $non_human_roles; leaves rows of `x`, a map (kind, n, trace,
// vector_score, vector_rank, bm25, bm25_rank), `parts`, a map of the parts of the score, `relevance`, factor * sum of
// the others, and `score`.
// needs: x, vector_score, vector_rank, bm25, bm25_rank, meaning, words, late, late_context, recency, access
// leaves: x, parts, relevance, score
// twin: oracles/blending.py around

WITH collect(x {
  .*, vector_score: vector_score, vector_rank: vector_rank, bm25: bm25, bm25_rank: bm25_rank,
  meaning: meaning, words: words, late: late, late_context: late_context, recency: recency, access: access
}) AS candidates
CALL (candidates) {
  UNWIND [c IN candidates WHERE c.kind <> 'turn'] AS x
  RETURN x, 0.0 AS around
UNION ALL
  // Neighbouring turns provide context, so each turn adds a share of its score to its neighbours.
  UNWIND [c IN candidates WHERE c.kind = 'turn'] AS c
  UNWIND range(-$scoring.reach, $scoring.reach) AS away
  WITH c.n.episode_id AS episode_id, c.n.position + away AS position,
       sum(CASE away WHEN 0 THEN 0.0 ELSE (c.meaning + c.words + c.late + c.late_context) * $scoring.around ^ abs(away) END) AS around,
       head(collect(CASE away WHEN 0 THEN c END)) AS x
  FILTER x IS NOT NULL
  RETURN x, around
}
WITH x, x.n AS n, around
WITH x, around, CASE
  // A person matches by one name; the subject of a belief matches only if all its words occur.
  WHEN x.kind = 'turn' AND any(word IN split(toLower(n.name), ' ') WHERE word IN $query_words) THEN $scoring.named
  WHEN x.kind = 'belief' AND all(word IN split(n.subject_key, ' ') WHERE word IN $query_words) THEN $scoring.named
  ELSE 0.0
END AS named, CASE
  WHEN any(span IN $dates WHERE span[0] <= coalesce(n.occurred_at, n.created_at) AND coalesce(n.occurred_at, n.created_at) < span[1]) THEN $scoring.dated
  ELSE 0.0
END AS dated, CASE WHEN x.kind = 'turn' AND toLower(n.role) IN $non_human_roles THEN $scoring.machine ELSE 1.0 END AS factor
WITH x, around, named, dated, factor, factor * (x.meaning + x.words + x.late + x.late_context + x.recency + x.access + around + named + dated) AS relevance
WITH x, x {.meaning, .words, .late, .late_context, .recency, .access, around: around, named: named, dated: dated, factor: factor} AS parts, relevance,
     CASE WHEN $scoring.adds AND x.kind <> 'belief' THEN $scoring.blend * relevance + (1 - $scoring.blend) * $scoring.unproven ELSE relevance END AS score
