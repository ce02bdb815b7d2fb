// Weigh the matches of the full-text queries by the words in the code `found`, see rules/fulltext.py: the sum of the words' inverse document
// frequencies. Frequencies are those among the matches of this read, so that no text moves the scores of a reader who cannot
// read it. A match in a field of little weight counts a tenth of a word. No property of a match is read.
// needs: kind, n, found
// leaves: kind, alike, weight
// twin: oracles/words.py

WITH kind, toInteger(found) AS code, collect(n) AS alike
ORDER BY code DESC
WITH kind, collect({code: code, alike: alike}) AS groups, sum(size(alike)) AS hits
// Which matches of the last score a full list contains depends on the order in the index, which all tenants share.
WITH kind, CASE WHEN hits < $wide_pool THEN groups ELSE groups[..-1] END AS groups
UNWIND groups AS g
WITH collect({kind: kind, alike: g.alike, terms: [bit IN range(0, 18) WHERE g.code / toInteger(2 ^ bit) % 2 = 1]}) AS groups, sum(size(g.alike)) AS hits
LET counts = [bit IN range(0, 18) | reduce(df = 0, g IN groups | df + CASE WHEN bit IN g.terms THEN size(g.alike) ELSE 0 END)]
LET weights = [bit IN range(0, 18) | CASE bit WHEN 18 THEN 0.1 ELSE 1.0 END * log(1.0 + (hits - counts[bit] + 0.5) / (counts[bit] + 0.5))]
UNWIND groups AS g
WITH g.kind AS kind, g.alike AS alike, g.terms AS terms, reduce(sum = 0.0, bit IN g.terms | sum + weights[bit]) AS weight
ORDER BY weight DESC, terms
