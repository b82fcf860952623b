/** Public holidays from the data of the package `date-holidays`, without a network (docs/contact-windows.md). */
import type Holidays from 'date-holidays';
import type { PublicHolidays } from '../../../domain/message/contact-window.ts';
import { DAY_MS } from '../../../ground/base/clock.ts';

let loaded: Promise<PublicHolidays> | null = null;

/**
 * Loads the library, once a process. That takes a tenth of a second and some 30 MB, so only processes that deliver or
 * make contracts load it. Returns the holidays of a whole country, not of its regions, with every date that a holiday
 * touches, such as the eve of a holiday that begins at sunset. The first question about a year takes some twenty
 * milliseconds; its answer is kept.
 */
export async function loadPublicHolidays(): Promise<PublicHolidays> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<PublicHolidays> {
  const { default: Library } = await import('date-holidays');
  const years = new Map<string, ReadonlySet<string>>();
  return (country, year) => {
    const key = `${country} ${year}`;
    let dates = years.get(key);
    if (dates === undefined) {
      // In UTC the library's instants read as the country's own dates.
      dates = datesOf(new Library(country, { timezone: 'UTC', types: ['public'] }), year);
      years.set(key, dates);
    }
    return dates;
  };
}

function datesOf(calendar: Holidays, year: number): ReadonlySet<string> {
  const dates = new Set<string>();
  // A holiday of several days may begin in the year before.
  for (const { start, end } of [...calendar.getHolidays(year - 1), ...calendar.getHolidays(year)]) {
    const firstDay = Math.floor(start.getTime() / DAY_MS) * DAY_MS;
    for (let day = firstDay; day < end.getTime(); day += DAY_MS) {
      dates.add(new Date(day).toISOString().slice(0, 10));
    }
  }
  return dates;
}
