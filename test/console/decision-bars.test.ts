/** The names below the bars of the lead's picture: a phone has room for them at every hour. */
import assert from 'node:assert/strict';
import { it } from 'node:test';

// By a name that the compiler does not follow: the page's files need the types of a browser.
const { decisionBars, namedBars } = await import(String('../../console/src/lead/decision-bars.ts'));

/** The share of a phone's picture that the widest names take: "21 de nov." and "11:00 AM". */
const widest = (bars: number) => (bars <= 24 ? 0.16 : 0.19);

it('begin at their bars, end within the picture, and do not touch each other', () => {
  for (let hour = 0; hour < 24; hour += 1) {
    const now = new Date(2026, 10, 27, hour, 40).getTime();
    for (const days of [1, 7, 30, 90]) {
      const bars: { from: number }[] = decisionBars([], days, now);
      const named: { from: number }[] = namedBars(bars);
      const at = named.map(({ from }) => bars.findIndex((bar) => bar.from === from) / bars.length);
      assert.ok(named.length >= 2, `${days} days, at ${hour}`);
      for (const [n, place] of at.entries())
        assert.ok(place + widest(bars.length) <= (at[n + 1] ?? 1) + 1e-9, `${days} days, at ${hour}: ${at}`);
    }
  }
});
