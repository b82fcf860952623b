/**
 * Bugs that a run plants into its own database or its own network, at least one for each rule of verify/history, so
 * that the checker shows that it finds them. None of them is in the shipped code. Each concerns one partner's data
 * alone.
 */

import type { Database } from '../../src/ground/postgres/database.ts';
import type { Rule } from '../history/check.ts';

export interface Planted {
  readonly rule: Rule;
  readonly bug: string;
  readonly cap: number | null;
  /** The bug of the database: a trigger; `own` says whether a row is of the partner. */
  readonly trigger?: {
    readonly when: string;
    readonly own: (partnerId: number) => string;
    readonly body: string;
  };
  /** The bug of the network: changes the answers of one service to the partner. */
  readonly forger?: () => (answer: Buffer) => Buffer;
}

const OK = Buffer.from('HTTP/1.1 200 OK');
const REPLAYED = 'idempotency-replayed: true';

const ofPartner = (partnerId: number) => `NEW.partner_id = ${partnerId}`;
const ofApplication = (partnerId: number) =>
  `(SELECT b.partner_id FROM batches b WHERE b.id = batch_of(NEW.application_id)) = ${partnerId}`;

/** A bug of the desk, which the run plants by its clients: a MAC covers the time, so no trigger makes this one. */
export const DUE_AT_ONCE = 'a proposal is due at once';

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
    rule: 'quota',
    bug: 'usage is counted twice',
    cap: 200,
    trigger: {
      when: 'BEFORE INSERT ON usage_entries',
      own: ofPartner,
      body: 'NEW.count := 2 * NEW.count; RETURN NEW;',
    },
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
  {
    rule: 'refused',
    bug: 'every second batch is stored and answered with 500',
    cap: null,
    forger: () => {
      let count = 0;
      return forging('HTTP/1.1 500 No', () => ++count % 2 === 1);
    },
  },
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
    rule: 'optOuts',
    bug: 'an opt-out is not kept',
    cap: null,
    trigger: {
      when: 'BEFORE INSERT OR UPDATE ON suppressions',
      own: (partnerId) =>
        `NEW.phone_index IN (SELECT a.phone_index FROM applications a WHERE a.partner_id = ${partnerId})`,
      body: 'NEW.active := false; RETURN NEW;',
    },
  },
  {
    rule: 'outdated',
    bug: 'a rejection is kept as an approval',
    cap: null,
    trigger: {
      when: 'BEFORE INSERT OR UPDATE ON application_states',
      own: (partnerId) => `NEW.batch_id IN (SELECT b.id FROM batches b WHERE b.partner_id = ${partnerId})`,
      body: "IF NEW.status = 'rejected' THEN NEW.status := 'pending_signature'; END IF; RETURN NEW;",
    },
  },
  {
    rule: 'recipients',
    bug: 'what a phone got is not noted',
    cap: null,
    trigger: { when: 'BEFORE INSERT OR UPDATE ON recipients', own: ofPartner, body: 'RETURN NULL;' },
  },
  {
    rule: 'events',
    bug: 'every second event names another application that had an event before',
    cap: null,
    trigger: {
      when: 'BEFORE INSERT ON partner_events',
      own: ofPartner,
      body: `IF NEW.number % 2 = 0 THEN
        SELECT coalesce(max(e.application_id), NEW.application_id) INTO NEW.application_id FROM partner_events e
        WHERE e.partner_id = NEW.partner_id AND e.application_id <> NEW.application_id;
      END IF;
      RETURN NEW;`,
    },
  },
  {
    rule: 'events',
    bug: 'every third event is lost',
    cap: null,
    trigger: {
      when: 'BEFORE INSERT ON partner_events',
      own: ofPartner,
      body: 'IF NEW.number % 3 = 0 THEN RETURN NULL; END IF; RETURN NEW;',
    },
  },
  {
    rule: 'proposals',
    bug: 'a proposal is applied and comes back',
    cap: null,
    trigger: {
      when: 'BEFORE UPDATE ON proposals',
      own: ofApplication,
      body: "IF NEW.state = 'applied' THEN NEW.state := 'returned'; NEW.returned_for := 'failure'; END IF; RETURN NEW;",
    },
  },
  {
    rule: 'undone',
    bug: 'a proposal that was undone is open again',
    cap: null,
    trigger: {
      when: 'AFTER UPDATE ON proposals',
      own: ofApplication,
      body: `IF NEW.state = 'undone' THEN
        INSERT INTO open_proposals (application_id, proposal_id, stamped_at, due_at, is_of_many)
        VALUES (NEW.application_id, NEW.id, now(), now(), false);
      END IF;
      RETURN NULL;`,
    },
  },
  { rule: 'undone', bug: DUE_AT_ONCE, cap: null },
  {
    rule: 'secondOperators',
    bug: 'the history lacks the second operator',
    cap: null,
    trigger: {
      when: 'BEFORE INSERT ON application_events',
      own: ofApplication,
      body: 'NEW.second_actor := NULL; RETURN NEW;',
    },
  },
  {
    rule: 'claims',
    bug: 'a claim ends at once',
    cap: null,
    trigger: {
      when: 'BEFORE UPDATE ON review_items',
      own: ofPartner,
      body: 'IF NEW.claimed_by IS NOT NULL THEN NEW.claimed_until := now(); END IF; RETURN NEW;',
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
  {
    rule: 'replays',
    bug: 'a batch that comes again is refused',
    cap: null,
    forger: () => forging('HTTP/1.1 409 No', (answer) => answer.includes(REPLAYED)),
  },
];

/** Plants a bug into the database for one partner. `name` occurs once; nothing where the bug is in the network. */
export async function plant(
  database: Database,
  name: string,
  { trigger }: Planted,
  partnerId: number,
): Promise<void> {
  if (trigger === undefined) return;
  const rest = trigger.when.startsWith('AFTER') ? 'RETURN NULL;' : 'RETURN NEW;';
  await database.query(`CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN IF ${trigger.own(partnerId)} THEN ${trigger.body} END IF; ${rest} END $$`);
  await database.query(`CREATE TRIGGER ${name} ${trigger.when} FOR EACH ROW EXECUTE FUNCTION ${name}()`);
}

/** Begins the 200s that are meant as `line`, which is as long. */
function forging(line: string, isMeant: (answer: Buffer) => boolean): (answer: Buffer) => Buffer {
  return (answer) => {
    if (!answer.subarray(0, OK.length).equals(OK) || !isMeant(answer)) return answer;
    return Buffer.concat([Buffer.from(line), answer.subarray(OK.length)]);
  };
}
