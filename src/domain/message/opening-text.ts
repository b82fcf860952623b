/** Says to operators until when messages wait for their contact window (docs/contact-windows.md). Pure. */
import { DEFAULT_WINDOWS } from './contact-window.ts';

/** Zones whose built-in window opens on some day at these times of their wall clock. */
const OPENINGS = Object.values(DEFAULT_WINDOWS).flatMap(({ zones, hours }) => {
  const begins = new Set(Object.values(hours).flatMap((day) => day.map((stretch) => stretch.slice(0, 5))));
  return zones.map((zone) => ({ zone, begins, clock: clockOf(zone) }));
});

/**
 * The time in UTC, and on the wall clock of each zone whose built-in contact window opens then:
 * `2026-11-30 12:00Z (07:00 in America/Bogota)`.
 */
export function openingText(at: Date): string {
  const utc = `${at.toISOString().slice(0, 16).replace('T', ' ')}Z`;
  const local = OPENINGS.map(({ zone, begins, clock }) => ({ zone, begins, time: clock.format(at) }))
    .filter(({ begins, time }) => begins.has(time))
    .map(({ zone, time }) => `${time} in ${zone}`);
  return local.length === 0 ? utc : `${utc} (${local.join(', ')})`;
}

/** The same for the first and the last of several times; only one text if they are equal. */
export function openingsText(first: Date, last: Date): string {
  const [begin, end] = [openingText(first), openingText(last)];
  return begin === end ? begin : `${begin} to ${end}`;
}

function clockOf(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
}
