// Return the time of the server.
// mode: read
// rows: one
// params:
// columns:
//   - now  datetime  server clock

RETURN datetime.realtime('Z') AS now
