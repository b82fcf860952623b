/**
 * `npm run bench:two-years`: what the hot statements of conversations, documents, incomes and contracts read in a store
 * of a five-hundredth and of a fiftieth of two years (10,000 conversations a day). Each is run by the service's own
 * code, as the service's role. A statement that reads a growing table from end to end, or ten times the blocks with ten
 * times the rows, fails the run. `--most N` conversations in the larger store.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { toApplicationId } from '../src/domain/application/ids.ts';
import { machineClock } from '../src/ground/base/clock.ts';
import type { Database } from '../src/ground/postgres/database.ts';
import { foldRows } from '../src/ground/postgres/fold.ts';
import { forgetRows } from '../src/ground/postgres/forget.ts';
import { fromBigint } from '../src/seal/blind-indexes.ts';
import { secretsOfDataDir } from '../src/seal/secrets-file.ts';
import { Vault } from '../src/seal/vault.ts';
import { type ConversationId, readConversations } from '../src/subjects/conversation/sql/conversations.ts';
import { addInputs } from '../src/subjects/conversation/sql/inputs.ts';
import { conversationsNamed } from '../src/subjects/conversation/sql/match.ts';
import { mendConversations } from '../src/subjects/conversation/sql/retention.ts';
import { changedBeside, nextOpen } from '../src/subjects/conversation/sql/sweep.ts';
import { CONVERSATION_COUNTS } from '../src/subjects/conversation/sql/tables.ts';
import { claimWork } from '../src/subjects/conversation/sql/work.ts';
import { signingOf } from '../src/subjects/conversation/uses/neighbours.ts';
import { stampChats, trimConversations, trimStrangers } from '../src/subjects/conversation/uses/trim.ts';
import { takeTurns } from '../src/subjects/conversation/uses/turns.ts';
import { countDocuments, listDocuments, sealedDocumentsOf } from '../src/subjects/documents/sql/documents.ts';
import { deleteOldDocuments, fileKeys } from '../src/subjects/documents/sql/upkeep.ts';
import { incomeCheckOf } from '../src/subjects/income/sql/income-checks.ts';
import { readReplyBacklog } from '../src/subjects/messages/sql/replies/backlog.ts';
import { repliesOf } from '../src/subjects/messages/sql/replies.ts';
import { readConversationFacts } from '../src/subjects/monitoring/sql/store-facts.ts';
import { clearBlocks, readEnd } from '../src/subjects/signing/sql/blocks.ts';
import { expireContracts, readContract, unfinished } from '../src/subjects/signing/sql/contracts.ts';
import { droppedContracts, forgetContracts } from '../src/subjects/signing/sql/dropped.ts';
import { SIGNING_CODES } from '../src/subjects/signing/sql/tables.ts';
import { runJob } from '../test/support/upkeep.ts';
import { judge, number } from './bars.ts';
import { numberOption, readOptions } from './options.ts';
import { startServiceProcess } from './service-process.ts';
import { fillTwoYears, GROWING, OPEN } from './two-years-fill.ts';

const options = readOptions({ most: { default: '146000', about: 'conversations in the larger store' } });
const most = numberOption('most', options.most, 10 * OPEN);
const TURNS = 50;
/** Reads of a page that is no end-to-end read: upkeep in turns, and lists. */
const FEW_BLOCKS = 500;

const service = await startServiceProcess({ DELIVERY: 'off' });
// The store stays open, and no loop of the service works beside the measured statements.
process.kill(service.pid, 'SIGTERM');
await sleep(3_000);
const vault = new Vault(await secretsOfDataDir(service.dataDir, false, machineClock));
const database: Database = new pg.Pool({ connectionString: service.serviceUrl, max: 1 });

interface Seen {
  readonly ms: number;
  readonly blocks: number;
  readonly whole: readonly string[];
}

const READ = `
  SELECT s.relname AS table, s.seq_scan::float8 AS scans, (i.heap_blks_read + i.heap_blks_hit + coalesce(i.idx_blks_read + i.idx_blks_hit, 0))::float8 AS blocks
  FROM pg_stat_user_tables s JOIN pg_statio_user_tables i USING (relid)`;
type Stats = Map<string, { readonly scans: number; readonly blocks: number }>;

async function stats(): Promise<Stats> {
  await database.query('SELECT pg_stat_force_next_flush()');
  await database.query('SELECT');
  const { rows } = await service.admin.query<{ table: string; scans: number; blocks: number }>(READ);
  return new Map(rows.map(({ table, ...one }) => [table, one]));
}

async function watch(work: () => Promise<unknown>): Promise<Seen> {
  const before = await stats();
  const begun = performance.now();
  await work();
  const ms = performance.now() - begun;
  const after = await stats();
  const grown = (table: string, figure: 'scans' | 'blocks') =>
    (after.get(table)?.[figure] ?? 0) - (before.get(table)?.[figure] ?? 0);
  const whole = GROWING.filter((table) => grown(table, 'scans') > 0);
  return { ms, whole, blocks: GROWING.reduce((sum, table) => sum + grown(table, 'blocks'), 0) };
}

async function first(list: AsyncGenerator<unknown>): Promise<void> {
  for await (const _ of list) return;
}

/** What runs often, or for an operator who waits. `n`: a conversation in the middle of the store. */
function statements(n: number): Readonly<Record<string, () => Promise<unknown>>> {
  const id = toApplicationId(Math.floor(n / 100 + 1) * 128 + (n % 100));
  const some = Array.from({ length: TURNS }, (_, k) => `${n + k}` as ConversationId);
  const list = (filter: Partial<Parameters<typeof readConversations>[1]>) =>
    first(readConversations(database, { isOpen: null, heldBy: null, place: null, ...filter }));
  /** The age of the oldest hundred conversations. */
  const oldDays = 730 * (1 - 100 / (2 * n));
  const phones = some.map((one) => fromBigint<'phone'>(one));
  const turns = () =>
    takeTurns({
      ...{
        database,
        vault,
        clock: machineClock,
        signing: signingOf(vault),
        flows: new Map(),
        termsOf: () => null,
      },
      ...{ mayRemind: () => true, onFault: () => {} },
    });
  return {
    [`${TURNS} turns`]: turns,
    'a look for turns': turns,
    'a look for work': async () => [
      await claimWork(database, 'files', { room: 6, ofPartner: 4, held: [] }, 1),
      await claimWork(database, 'others', { room: 8, ofPartner: 8, held: [] }, 1),
    ],
    'the conversations of 50 messages': async () => [
      await conversationsNamed(database, vault, {
        contexts: [],
        applications: [id],
        phones,
        withdrawing: [],
      }),
    ],
    'a look beside conversations': async () => [
      await changedBeside(database),
      await nextOpen(database, null),
    ],
    'mend times': () => mendConversations(database),
    'fold counts': () => foldRows(database, CONVERSATION_COUNTS),
    'stamp ended chats and answers': () => stampChats(database),
    'forget answers to strangers, none due': () => trimStrangers(database, 100_000),
    'forget answers to strangers, 10 due': () => trimStrangers(database, oldDays),
    'forget chats, none due': () => trimConversations(database, 100_000),
    'forget chats, 100 due': () => trimConversations(database, oldDays),
    'list, first page': () => list({}),
    'list --open': () => list({ isOpen: true }),
    'list --held-by operator': () => list({ heldBy: 'operator' }),
    'list --step withdrawn': () => list({ place: 'withdrawn' }),
    'replies of one': () => repliesOf(database, id),
    'replies that wait': () => readReplyBacklog(database),
    'a scrape': () => readConversationFacts(database),
    'documents of one': async () => [
      await sealedDocumentsOf(database, id),
      await countDocuments(database, id),
    ],
    'document list --state received': () =>
      first(listDocuments(database, { applicationId: null, state: 'received' })),
    'old documents, none due': () => deleteOldDocuments(database, 100_000),
    'documents of applications that are gone': () =>
      runJob(database, 'delete documents without applications'),
    'files of a part of the store': () => fileKeys(database, 'document/0000', 'document/0000~'),
    'check of one': () => incomeCheckOf(database, id),
    'checks of applications that are gone': () =>
      runJob(database, 'delete checks of incomes without applications'),
    'contract of one': async () => [await readContract(database, id), await readEnd(database, id)],
    'expire contracts': () => expireContracts(database, null),
    'contracts to finish': () => unfinished(database),
    'contracts to delete': () => droppedContracts(database),
    'blocked contracts': () => clearBlocks(database),
    'forget contracts, none due': () => forgetContracts(database, 10),
    'forget codes': () => forgetRows(database, SIGNING_CODES),
  };
}

async function measure(conversations: number): Promise<Map<string, Seen>> {
  const begun = performance.now();
  await fillTwoYears(service.admin, conversations);
  const { rows } = await service.admin.query(
    'SELECT pg_size_pretty(pg_database_size(current_database())) AS size',
  );
  console.log(
    `${number(conversations)} conversations in ${number((performance.now() - begun) / 1_000)} s: ${rows[0].size}`,
  );
  const open = Array.from({ length: TURNS }, (_, k) => conversations - 1_001 - 100 * k);
  await addInputs(
    database,
    vault,
    'person',
    open.map((n) => ({
      conversationId: `${n}` as ConversationId,
      applicationId: toApplicationId(Math.floor(n / 100 + 1) * 128 + (n % 100)),
      ...{ messageIndex: null, workId: null, at: null, content: { kind: 'text', body: 'hola' } },
    })),
  );
  const seen = new Map<string, Seen>();
  for (const [name, work] of Object.entries(statements(Math.floor(conversations / 2))))
    seen.set(name, await watch(work));
  return seen;
}

let faults = 0;
try {
  const [small, large] = [await measure(most / 10), await measure(most)];
  for (const [name, { ms, blocks, whole }] of large) {
    const before = small.get(name)!;
    const isFlat = blocks <= Math.max(FEW_BLOCKS, 3 * before.blocks);
    if (whole.length > 0 || !isFlat) faults += 1;
    const told =
      whole.length > 0 ? `   READS ${whole.join(', ')} FROM END TO END` : isFlat ? '' : '   NOT FLAT';
    console.log(
      `${name.padEnd(42)}${number(before.blocks).padStart(9)} and ${number(blocks).padStart(9)} blocks, ${number(before.ms, 1)} and ${number(ms, 1)} ms${told}`,
    );
  }
} finally {
  await database.end();
  await service.stop();
}
judge([{ name: 'statements that grow with the store', figure: faults, direction: 'at most', bound: 0 }]);
