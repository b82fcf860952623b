/**
 * Bugs that a run plants into its own database or its own network, one for each rule of test/history, so that the
 * checker shows that it finds them. None of them is in the shipped code. Each concerns the data of one partner alone.
 */

import type { Database } from '../../src/postgres/database.ts';
import type { Rule } from '../history/check.ts';

interface Planted {
  readonly rule: Rule;
  readonly bug: string;
  readonly cap: number | null;
  /** The trigger that has the bug; `own` says whether a row is of the partner. Absent: the bug is in the network. */
  readonly trigger?: {
    readonly when: string;
    readonly own: (partnerId: number) => string;
    readonly body: string;
  };
}

const ofPartner = (partnerId: number) => `NEW.partner_id = ${partnerId}`;

export const PLANTED: readonly Planted[] = [
  {
    rule: 'phones',
    bug: 'an open application does not hold its phone',
    cap: null,
    trigger: {
      when: 'AFTER INSERT ON batches',
      own: ofPartner,
      body: 'DELETE FROM open_phones o WHERE batch_of(o.application_id) = NEW.id; RETURN NULL;',
    },
  },
  {
    rule: 'quota',
    bug: 'usage is not counted',
    cap: 40,
    trigger: { when: 'BEFORE INSERT ON usage_entries', own: ofPartner, body: 'RETURN NULL;' },
  },
  {
    rule: 'acknowledged',
    bug: 'every third batch is answered and not stored',
    cap: null,
    trigger: {
      when: 'BEFORE INSERT ON batches',
      own: ofPartner,
      body: 'IF NEW.id % 3 = 0 THEN RETURN NULL; END IF; RETURN NEW;',
    },
  },
  { rule: 'refused', bug: 'every second batch is stored and answered with 500', cap: null },
  {
    rule: 'messages',
    bug: 'every second batch has no messages',
    cap: null,
    trigger: {
      when: 'BEFORE INSERT ON outbox',
      own: ofPartner,
      body: 'IF NEW.batch_id % 2 = 0 THEN RETURN NULL; END IF; RETURN NEW;',
    },
  },
  {
    rule: 'sends',
    bug: 'a message that the channel accepted is queued again',
    cap: null,
    trigger: {
      when: 'BEFORE INSERT ON message_records',
      own: ofPartner,
      body: "IF NEW.status = 'accepted' THEN NEW.status := 'queued'; NEW.due_at := now(); END IF; RETURN NEW;",
    },
  },
  {
    rule: 'events',
    bug: 'every second event names the application of the event before it',
    cap: null,
    trigger: {
      when: 'BEFORE INSERT ON partner_events',
      own: ofPartner,
      body: `IF NEW.number % 2 = 0 THEN
        SELECT e.application_id INTO NEW.application_id FROM partner_events e
        WHERE e.partner_id = NEW.partner_id AND e.number = NEW.number - 1;
      END IF;
      RETURN NEW;`,
    },
  },
  {
    rule: 'replays',
    bug: 'a batch leaves no receipt',
    cap: null,
    trigger: {
      when: 'BEFORE INSERT ON batch_receipts',
      own: (partnerId) => `NEW.api_key_id IN (SELECT id FROM api_keys WHERE partner_id = ${partnerId})`,
      body: 'RETURN NULL;',
    },
  },
];

/** Plants a bug into the database for one partner; nothing where the bug is in the network. */
export async function plant(
  database: Database,
  { rule, trigger }: Planted,
  partnerId: number,
): Promise<void> {
  if (trigger === undefined) return;
  const name = `planted_${rule}`;
  const rest = trigger.when.startsWith('AFTER') ? 'RETURN NULL;' : 'RETURN NEW;';
  await database.query(`CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN IF ${trigger.own(partnerId)} THEN ${trigger.body} END IF; ${rest} END $$`);
  await database.query(`CREATE TRIGGER ${name} ${trigger.when} FOR EACH ROW EXECUTE FUNCTION ${name}()`);
}

const OK = Buffer.from('HTTP/1.1 200 OK');
const FORGED = Buffer.from('HTTP/1.1 500 No');

/** Makes every second 200 a 500: the bug of the network. Both have the same length. */
export function forger(): (answer: Buffer) => Buffer {
  let count = 0;
  return (answer) => {
    if (!answer.subarray(0, OK.length).equals(OK)) return answer;
    count += 1;
    return count % 2 === 0 ? answer : Buffer.concat([FORGED, answer.subarray(OK.length)]);
  };
}
