/** Example answers with every kind of content, for development of the window without a model. */
export const throttleAnswer = `Yes. Tie the batch size to the lag you measure, not to the clock. In [#35](contextinfinity://turn/t0035) you chose to keep dual writes on throughout, so the backfill may stop after any batch without losing a row. Only its speed is open.

- Under 2 s of lag, grow the batch by a tenth.
- Between 2 s and 5 s, hold.
- Over 5 s, halve it, and never go below 200 rows.

\`\`\`go
// next returns the batch size for the lag just measured.
func (t *Throttle) next(lag time.Duration) int {
	switch {
	case lag < 2*time.Second:
		t.size += t.size / 10
	case lag > 5*time.Second:
		t.size /= 2
	}
	t.size = min(max(t.size, 200), 20_000)
	return t.size
}
\`\`\`

Last night's load, replayed with these rules:

| Hour | Rows copied | Lag p95, fixed | Lag p95, throttled |
|---|---:|---:|---:|
| 00 to 01 | 1 840 000 | 1.9 s | 1.7 s |
| 01 to 02 | 2 410 000 | 14.2 s | 4.6 s |
| 02 to 03 | 2 390 000 | 31.0 s | 4.9 s |
| 03 to 04 | 1 120 000 | 7.8 s | 2.2 s |

The run takes 38 minutes longer and never crosses the 5 s line you set.`;

export const mathAnswer = `The expected wait follows from Little's law. With arrival rate $\\lambda$ and mean time in the system $W$,

$$L = \\lambda W, \\qquad W = \\frac{1}{\\mu - \\lambda}.$$

At $\\lambda = 0.8\\mu$ that is **five** service times, and at $0.95\\mu$ it is twenty: the last few percent of load cost more than all the rest.

> Keep the queue under 80 % and it looks after itself.

1. Measure $\\lambda$ over an hour, not a minute.
2. Take $\\mu$ from the slowest worker.
3. Alert on the ratio.`;

export const messageAnswer = `In October you promised two things ([#12](contextinfinity://turn/t0012)): no change on a Friday, and a way back that takes one person under five minutes. Both still hold, so the message can say so plainly.

**Orders moves to Postgres on Sunday 30 November, 05:00.** You need to do nothing. If checkout errors pass 0.2 %, set \`orders.read_from=mysql\`; it takes effect in ten seconds and loses no orders. The runbook is five steps long, and whoever is on call that weekend has rehearsed it twice.

### What changes for you

- The \`orders\` dashboard reads from the new database from 05:10.
- Reports that joined across the two databases run an hour later.

See the [runbook](https://example.com/runbook) for the rest.`;

export const answers: readonly string[] = [messageAnswer, throttleAnswer, mathAnswer];
