// Keep a long call that no process runs: its time has come, or is hours ahead, which shows that the clock was set back.
// needs: u, now

FILTER u.due_at <= now OR u.due_at > now + duration({hours: 2})
