/** Reads the whole store after a run, in the clients' words: phones and ID numbers instead of known blind indexes. */
import { toPartnerId } from '../../src/domain/partner/credential.ts';
import type { Phone } from '../../src/domain/phone/phone.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { idNumberIndexOf, phoneIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { eventIdOf } from '../../src/seal/event-ids.ts';
import type { Vault } from '../../src/seal/vault.ts';
import type {
  Batch,
  Move,
  Store,
  StoredApplication,
  StoredEvent,
  StoredMessage,
  StoredProposal,
} from '../history/history.ts';

/** Reading all applications of an hour takes longer than a statement of the service may. */
const ALL_WITHIN_MS = 10 * 60_000;

const APPLICATIONS = `
  SELECT id, partner_id, phone_index, id_number_index, messaging_optin AS optin, score, decision, status
  FROM applications`;
const MOVES = `
  SELECT e.application_id AS id, e.action, e.from_status AS "from", e.to_status AS "to", e.actor,
    e.second_actor AS second FROM application_events e
  WHERE e.action IN ('approve', 'reject', 'disburse') ORDER BY e.id`;
const PROPOSALS = `
  SELECT p.id, p.application_id AS "applicationId", p.act AS action, p.maker_id AS "makerId", p.state,
    p.returned_for AS "returnedFor", ARRAY(
      SELECT e.act FROM operator_events e
      WHERE e.application_id = p.application_id AND e.target ~ concat('^proposal ', p.id, '\\M')
        AND e.act <> 'proposal confirm' ORDER BY e.id) AS recorded
  FROM proposals p`;
const MESSAGES = 'SELECT message_id::text AS "messageId", type, status FROM messages';
const EVENTS = `
  SELECT partner_id, number::integer AS number, type, application_id AS id, from_status AS "from", to_status AS "to"
  FROM partner_events`;

interface ApplicationRow extends Pick<StoredApplication, 'optin' | 'score' | 'decision' | 'status'> {
  readonly id: string;
  readonly partner_id: number;
  readonly phone_index: string | null;
  readonly id_number_index: string;
}
type MoveRow = Move & { readonly id: string };
type ProposalRow = Omit<StoredProposal, 'id' | 'applicationId'> & {
  readonly id: string;
  readonly applicationId: string;
};
type EventRow = Pick<StoredEvent, 'number' | 'type' | 'from' | 'to'> & {
  readonly id: string;
  readonly partner_id: number;
};

/** `batches`: what the clients sent. */
export async function dumpStore(database: Database, vault: Vault, batches: readonly Batch[]): Promise<Store> {
  const read = async <Row extends object>(text: string): Promise<Row[]> => {
    const client = await database.connect();
    try {
      await client.query(`SET statement_timeout = ${ALL_WITHIN_MS}`);
      // The driver reads the limit from the query; its types do not know that.
      const query = { text, query_timeout: ALL_WITHIN_MS };
      return (await client.query<Row>(query)).rows;
    } finally {
      client.release(true);
    }
  };
  const known = indexesOf(vault, batches);
  const moves = Map.groupBy(await read<MoveRow>(MOVES), ({ id }) => id);
  const applications = (await read<ApplicationRow>(APPLICATIONS)).map((row): StoredApplication => {
    const { optin, score, decision, status } = row;
    return {
      ...{ id: Number(row.id), partnerId: row.partner_id, optin, score, decision, status },
      idNumber: known.idNumbers.get(row.id_number_index) ?? null,
      // Also a phone that no client sent has one open application at most.
      phone: known.phones.get(row.phone_index ?? '') ?? row.phone_index,
      moves: (moves.get(row.id) ?? []).map(({ id: _, ...move }) => move),
    };
  });
  const events = (await read<EventRow>(EVENTS)).map(({ id, partner_id: partnerId, ...event }) => ({
    ...event,
    partnerId,
    applicationId: Number(id),
    id: eventIdOf(vault, toPartnerId(partnerId), event.number),
  }));
  const proposals = (await read<ProposalRow>(PROPOSALS)).map((row): StoredProposal => {
    return { ...row, id: Number(row.id), applicationId: Number(row.applicationId) };
  });
  return { applications, proposals, messages: await read<StoredMessage>(MESSAGES), events };
}

function indexesOf(vault: Vault, batches: readonly Batch[]) {
  const phones = new Map<string, string>();
  const idNumbers = new Map<string, string>();
  for (const { idNumber, phone } of batches.flatMap(({ applications }) => applications)) {
    phones.set(toBigint(phoneIndexOf(vault, phone as Phone)), phone);
    idNumbers.set(toBigint(idNumberIndexOf(vault, idNumber)), idNumber);
  }
  return { phones, idNumbers };
}
