/** Persons who write to the whole service: what every subject hears, in the order of the program (D50). */
import pino from 'pino';
import { loadHearing } from '../../src/app/hearing.ts';
import type { ChannelEvent } from '../../src/domain/message/channel-event.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { ReadSetting } from '../../src/ground/base/setting.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { APPLICANT } from './applicant.ts';
import { conversationsOf } from './conversations.ts';
import type { testDatabase } from './database.ts';

/** The settings by their defaults. */
const setting: ReadSetting = ({ read }) => read(undefined, { dataDir: '/', ownDatabase: false });

/** What a store hears, with the lines of its log. */
export async function refusedOf(store: Awaited<ReturnType<typeof testDatabase>>, key: number) {
  const { database, vault } = store;
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const listen = await loadHearing({ database, vault, clock: machineClock, log, setting });
  const chats = await conversationsOf(store, key);
  const hear = async (...events: ChannelEvent[]): Promise<void> => {
    await applyChannelEvents({ database, vault, hear: listen }, events);
    await chats.settle();
  };
  type Person = ReturnType<typeof chats.person>;
  return {
    ...chats,
    lines,
    hear,
    /** Somebody whom the score of 26 refused. */
    refusedAt: (changes: object = {}) =>
      chats.applicantAt({ num_debts: '3', income: 300_000, ...changes }, false),
    /** What a person writes, at a time by the channel's clock. */
    writes: async (one: Person, words: string, at?: Date) => hear(await one.textEvent(words, at)),
    textsOf: async (one: Person) => (await one.replies()).map(({ text }) => text),
    casesOf: async ({ id }: { id: number }) =>
      (
        await database.query<{ id: number; kind: string; outcome: string | null }>(
          'SELECT id::integer, kind, outcome FROM cases WHERE application_id = $1 ORDER BY id',
          [id],
        )
      ).rows,
    stranger: () => chats.person(1, toPhone(APPLICANT.phone.replace('0101', '9999'))),
  };
}
