// List the languages and other analysers that the full-text indexes of the server support.
// mode: read
// rows: many
// params:
// columns:
//   - name  string  name of the analyser, for example english, german, cjk

CALL db.index.fulltext.listAvailableAnalyzers() YIELD analyzer
RETURN analyzer AS name
ORDER BY name
