/** Makes a message that a person sends now on the simulator's page, with the time of the database's clock (D39). */
import { randomUUID } from 'node:crypto';
import type { Phone } from '../../domain/phone/phone.ts';
import { DAY_MS, HOUR_MS } from '../../ground/base/clock.ts';
import { onlyRow } from '../../ground/postgres/database.ts';
import type { SimulatorContext } from './context.ts';
import type { Said } from './said.ts';

/** After the end of the 24 hours a person's message is reported this late, so that it opens no window. */
const LATE_MS = DAY_MS + HOUR_MS;

const NOW = 'SELECT now() AS now';

/** Makes a message with a new id. */
export async function saidNow(
  context: SimulatorContext,
  phone: Phone,
  { text, interestIn = null, file = null }: Pick<Said, 'text'> & Partial<Said>,
): Promise<Said> {
  const lateMs = context.simulator.windowsOver.has(phone) ? LATE_MS : 0;
  const at = new Date((await now(context)).getTime() - lateMs);
  return { messageId: `simulated.${randomUUID()}`, phone, at, text, interestIn, file };
}

/** The time by the database's clock (D39). */
export async function now({ database }: Pick<SimulatorContext, 'database'>): Promise<Date> {
  return onlyRow((await database.query<{ now: Date }>(NOW)).rows).now;
}
