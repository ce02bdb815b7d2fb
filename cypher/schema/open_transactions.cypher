// The server's clock, and which transactions are open: when they have ended, all that was recorded before is there to be read.
// mode: read
// rows: one
// params:
// columns:
//   - open  list      names of transactions
//   - now   datetime  the server's clock, to the microsecond

// The clock is that of the statement's beginning: who has recorded something before it is listed, or has ended.
SHOW TRANSACTIONS YIELD transactionId
RETURN collect(transactionId) AS open, datetime.truncate('microsecond', datetime.statement('Z')) AS now
