// Return the time of the server.
// mode: schema
// rows: one
// params:
// columns:
//   - now  datetime  server clock

RETURN datetime.realtime('Z') AS now
