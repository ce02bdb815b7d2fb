// The languages, or other analysers, that the server's full-text indexes know.
// mode: read
// rows: many
// params:
// columns:
//   - name  string  for example english, german, cjk

CALL db.index.fulltext.listAvailableAnalyzers() YIELD analyzer
RETURN analyzer AS name
ORDER BY name
