/**
 * `npm run bench:decisions`: a decision on many applications, and the confirmation of single ones, over HTTP on a
 * service with nothing beside. Prints seconds, the memory of the service and the locks of its database. `--waiting N`
 * applications in review, at most 10,000; `--confirm N` of them; `--folder FOLDER` measures another checkout.
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { ListedProposalReply, LookedAtReply } from '../src/subjects/desk/routes/proposal-forms.ts';
import { freePort } from '../test/support/free-port.ts';
import { number } from './bars.ts';
import { expanded, reviewerAt, signedIn } from './desk-requests.ts';
import { fillStore } from './fill.ts';
import { numberOption, readOptions } from './options.ts';
import { median } from './phase.ts';
import { startServiceProcess } from './service-process.ts';

const options = readOptions({
  waiting: { default: '10000', about: 'applications in review' },
  confirm: { default: '200', about: 'confirmations' },
  folder: { default: '.', about: 'the checkout' },
});
const waiting = numberOption('waiting', options.waiting, 100);
const confirmations = numberOption('confirm', options.confirm, 1);
const LOCKS = 'SELECT count(*)::integer AS locks FROM pg_locks WHERE pid <> pg_backend_pid()';

interface Waiting {
  readonly proposals: readonly ListedProposalReply[];
}

const consolePort = await freePort();
const service = await startServiceProcess(
  { CONSOLE_PORT: `${consolePort}`, DELIVERY: 'on', MESSAGES_PER_SECOND: '1', UNDO_SECONDS: '600' },
  options.folder,
);
const watch = new pg.Client({ connectionString: service.connectionString });
await watch.connect();
const residentMb = async (line: 'VmRSS' | 'VmHWM') =>
  Number(new RegExp(`${line}:\\s*(\\d+)`).exec(await readFile(`/proc/${service.pid}/status`, 'utf8'))![1]) /
  1_024;

/** Prints what `work` took. */
async function measured<T>(name: string, work: () => Promise<T>): Promise<T> {
  let [most, isOver] = [0, false];
  const watching = (async () => {
    while (!isOver) {
      most = Math.max(most, (await watch.query(LOCKS)).rows[0].locks);
      await sleep(20);
    }
  })();
  const begunMs = performance.now();
  try {
    return await work();
  } finally {
    const seconds = (performance.now() - begunMs) / 1_000;
    isOver = true;
    await watching;
    console.log(`${name.padEnd(40)} ${number(seconds, 2)} s, ${number(most)} locks at most`);
  }
}

try {
  await fillStore(service.admin, waiting * 5, 20);
  await expanded(service.admin);
  const operator = async (login: string) =>
    reviewerAt(`http://localhost:${consolePort}/api`, await signedIn(service, login));
  const [maker, second] = [await operator('maker'), await operator('second')];
  await service.admin.query(
    "UPDATE operators SET authority = '{\"COP\": 1000000000000}' WHERE login = 'second'",
  );
  await service.remac();
  await service.admin.query('VACUUM ANALYZE');
  const act = { act: 'approve', reason_code: 'documents_verified', reason: 'bench' };
  const key = { 'Idempotency-Key': randomUUID() };
  const { selection, count } = await measured('selection', () =>
    maker('POST', '/review-queue/selections', {}),
  );
  const look = await measured('look', () =>
    maker<LookedAtReply>('POST', '/proposals/bulk/look', { act: act.act, selection }),
  );
  const { above_authority, against_score } = look;
  const seen = { above_authority, against_score, contradicted: look.count };
  const before = await residentMb('VmRSS');
  const { proposed } = await measured('decision on all', () =>
    maker('POST', '/proposals/bulk', { ...act, selection, seen }, key),
  );
  console.log(
    `${count} selected, ${proposed} proposed; MB before and at most: ${number(before)} ${number(await residentMb('VmHWM'))}`,
  );
  const times: number[] = [];
  const list = async () => (await second<Waiting>('GET', '/proposals?list=to_confirm')).proposals;
  while (times.length < confirmations) {
    for (const { id, facts } of await list()) {
      const begunMs = performance.now();
      const { state } = await second('POST', `/proposals/${id}/confirm`, { seen: facts!.seen });
      if (state !== 'proposed') throw new Error(`proposal ${id}: ${state}`);
      times.push(performance.now() - begunMs);
    }
  }
  times.sort((a, b) => a - b);
  console.log(
    `${times.length} confirmations: p50 ${number(median(times), 1)} ms, p95 ${number(times[Math.floor(times.length * 0.95)]!, 1)} ms`,
  );
  await measured('undo of the rest', () => maker('POST', '/proposals/bulk/undo', {}, key));
} finally {
  await watch.end();
  await service.stop();
}
