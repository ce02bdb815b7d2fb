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
WITH collect({kind: kind, alike: g.alike, code: g.code, hits: size(g.alike)}) AS groups, sum(size(g.alike)) AS hits
LET counts = [bit IN [n IN range(0, 18) | toInteger(2 ^ n)] | {bit: bit, df: reduce(df = 0, g IN groups | df + g.code / bit % 2 * g.hits)}]
LET terms = [x IN counts WHERE x.df > 0 | x {.bit, weight: CASE x.bit WHEN 262144 THEN 0.1 ELSE 1.0 END * log(1.0 + (hits - x.df + 0.5) / (x.df + 0.5))}]
UNWIND groups AS g
WITH g.kind AS kind, g.alike AS alike, g.code AS code, reduce(sum = 0.0, x IN terms | sum + g.code / x.bit % 2 * x.weight) AS weight
ORDER BY weight DESC, code
