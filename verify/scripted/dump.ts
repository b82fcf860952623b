/** The store after a run, as the rules read it. */
import { type ApplicationId, toApplicationId } from '../../src/domain/application/ids.ts';
import type { ApplicationStatus } from '../../src/domain/application/lifecycle.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { fromBigint } from '../../src/seal/blind-indexes.ts';
import type { Vault } from '../../src/seal/vault.ts';
import { replyIdentity } from '../../src/subjects/messages/sql/replies.ts';
import { readEvidence } from '../../src/subjects/signing/sql/evidence.ts';
import { ANSWER } from './inbox.ts';
import type { Stored, StoredContract, StoredConversation, StoredEvidence } from './seen.ts';

/** Everything about these applications, and the events of all partners. */
export async function dumpStore(database: Database, vault: Vault, ids: readonly number[]): Promise<Stored> {
  const rowsOf = async <Row extends object>(sql: string) => (await database.query<Row>(sql)).rows;
  const counts = async (sql: string) =>
    new Map(
      (await rowsOf<{ id: string; count: number }>(sql)).map(({ id, count }) => [Number(id), count] as const),
    );
  const contracts = await rowsOf<{ id: string; state: string; sha256: string | null }>(
    `SELECT application_id AS id, state, encode(sha256, 'hex') AS sha256 FROM loan_contracts`,
  );
  const inputs = await rowsOf<{
    application_id: string;
    source: string;
    message_index: string | null;
    turn: number | null;
    fault: string | null;
  }>('SELECT application_id, source, message_index, turn, fault FROM conversation_inputs ORDER BY id');
  return {
    conversations: (
      await rowsOf<Omit<StoredConversation, 'applicationId'> & { application_id: string }>(
        `SELECT application_id, place, held_by AS "heldBy", state ->> 'handedOver' AS "handedOver", turn
        FROM conversations ORDER BY id`,
      )
    ).map(({ application_id, ...row }) => ({ ...row, applicationId: Number(application_id) })),
    inputs: inputs.map(({ application_id, source, message_index, turn, fault }) => ({
      ...{ applicationId: Number(application_id), source, turn, fault },
      message: message_index === null ? null : fromBigint<'channel_message_id'>(message_index),
    })),
    replies: (
      await rowsOf<{ id: string; application_id: string; turn: number; status: string; content: Buffer }>(
        'SELECT id, application_id, turn, status, content FROM replies ORDER BY id',
      )
    ).map(({ application_id, content, ...row }) => {
      const opened = vault.open(content, replyIdentity(application_id, row.turn)).toString();
      const isAnswer = JSON.parse(opened).text.startsWith(ANSWER);
      return { ...row, applicationId: Number(application_id), isAnswer };
    }),
    answerActs: await counts(
      `SELECT application_id AS id, count(*)::integer AS count FROM operator_events
      WHERE act = 'conversation say' GROUP BY 1`,
    ),
    applications: await readStates(database, ids),
    evidence: await readChains(database, vault, ids),
    contracts: Map.groupBy<number, StoredContract & { id: string }>(contracts, ({ id }) => Number(id)),
    usedCodes: await counts(
      'SELECT application_id AS id, count(*)::integer AS count FROM signing_codes WHERE used_at IS NOT NULL GROUP BY 1',
    ),
    events: (
      await rowsOf<{ partner_id: number; number: string; application_id: string; type: string }>(
        `SELECT partner_id, number, application_id, concat_ws(' ', type, outcome) AS type FROM partner_events
        ORDER BY partner_id, number`,
      )
    ).map(({ partner_id, number, application_id, type }) => ({
      ...{ partnerId: partner_id, number: Number(number), applicationId: Number(application_id), type },
    })),
    reminders: await counts(
      `SELECT application_of_message(message_id) AS id, count(*)::integer AS count FROM message_records
      WHERE type = 'reminder' GROUP BY 1`,
    ),
    waitingWork:
      (await rowsOf<{ count: number }>('SELECT count(*)::integer AS count FROM conversation_work'))[0]
        ?.count ?? 0,
  };
}

async function readStates(database: Database, ids: readonly number[]): Promise<Stored['applications']> {
  const { rows } = await database.query<{ id: string; status: ApplicationStatus; is_signed: boolean }>(
    'SELECT id, status, signed_at IS NOT NULL AS is_signed FROM applications WHERE id = ANY ($1::bigint[])',
    [ids],
  );
  return new Map(rows.map(({ id, status, is_signed }) => [Number(id), { status, isSigned: is_signed }]));
}

async function readChains(
  database: Database,
  vault: Vault,
  ids: readonly number[],
): Promise<Stored['evidence']> {
  const chains = new Map<number, readonly StoredEvidence[]>();
  for (const id of ids) {
    const chain = await readChain(database, vault, toApplicationId(`${id}`));
    if (chain.length > 0) chains.set(id, chain);
  }
  return chains;
}

async function readChain(database: Database, vault: Vault, id: ApplicationId): Promise<StoredEvidence[]> {
  const { rows, faults } = await readEvidence(database, vault, id);
  const isChained = faults.length === 0;
  return rows.map(({ number, kind, facts }) => ({ number, kind, facts: JSON.parse(facts), isChained }));
}
