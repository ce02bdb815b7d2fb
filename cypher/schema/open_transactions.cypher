// Return the server clock and the open transactions. Once these have ended, everything recorded before that time is
// visible.
// mode: read
// rows: one
// params:
// columns:
//   - open  list      transaction ids
//   - now   datetime  server clock, in microseconds

// The clock is that of the start of the statement: every transaction that recorded data before it is listed or has
// ended.
SHOW TRANSACTIONS YIELD transactionId
RETURN collect(transactionId) AS open, datetime.truncate('microsecond', datetime.statement('Z')) AS now
