/** The requests of reviewers on a full store, beside registrations. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { VIEWS } from '../src/domain/application/views.ts';
import { machineClock } from '../src/ground/base/clock.ts';
import { secretsOfDataDir } from '../src/seal/secrets-file.ts';
import { Vault } from '../src/seal/vault.ts';
import { lockAccount } from '../src/subjects/operators/sql/factors.ts';
import { startSession } from '../src/subjects/operators/sql/sessions.ts';
import { newSession } from '../src/subjects/operators/uses/tokens.ts';
import { freePort } from '../test/support/free-port.ts';
import { type Bar, number } from './bars.ts';
import { fillDesk } from './desk-fill.ts';
import { fillStore } from './fill.ts';
import { type Measured, worker } from './phase.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';

const BOUND_MS = 200;
const LOAD = { concurrency: 1, size: 100 };
const ORDERS = ['due', 'oldest', 'score', 'amount'];
const FILTERS = [
  ...[
    '',
    'state=waiting',
    'state=proposed',
    'state=pended',
    'claim=mine',
    'claim=free',
    'partner=2',
    'partner=1',
  ],
  ...['score_from=45&score_to=46', 'score_from=30&score_to=50', 'amount_from=24000', 'amount_to=500'],
  ...['age_from=700', 'age_from=1000', 'due_within=0', 'due_within=24'],
  'state=waiting&claim=free&partner=1&score_from=40&score_to=60&amount_from=2000&amount_to=20000&due_within=8760',
];
const ADD_OPERATOR = `
  INSERT INTO operators (login, role, enrolled_at) VALUES ($1, 'admin', now()) RETURNING id`;
interface Size {
  readonly stored: number;
  readonly waiting: number;
  readonly rounds: number;
}

/** A kind of request. */
interface Asked {
  readonly name: string;
  readonly ask: () => Promise<void>;
}

/** Fills a store, asks everything `rounds` times beside registrations, prints the times and returns the bars. */
export async function benchDesk({ stored, waiting, rounds }: Size): Promise<Bar[]> {
  const consolePort = await freePort();
  const service = await startServiceProcess({
    CONSOLE_PORT: `${consolePort}`,
    DELIVERY: 'on',
    MESSAGES_PER_SECOND: '1',
  });
  const loader = worker<object, Measured>('./load.ts');
  try {
    let begunMs = performance.now();
    await fillStore(service.admin, stored, Math.round((100 * waiting) / stored));
    console.log(
      `filled with ${number(stored)} applications in ${number((performance.now() - begunMs) / 1_000)} s`,
    );
    begunMs = performance.now();
    await expanded(service.admin);
    console.log(`the queue was whole ${number((performance.now() - begunMs) / 1_000)} s later`);
    await service.addPartner('Small');
    const cookie = await signedIn(service, 'bench');
    await fillDesk(service);
    const reviewer = reviewerAt(`http://localhost:${consolePort}/api`, cookie);
    const kinds = await kindsOf(reviewer, service.admin);
    const load = { running: true, rates: [] as number[] };
    const loading = (async () => {
      for (let stream = 1; load.running; stream += 1) {
        const { applicationsPerSecond } = await loader.run({
          ...LOAD,
          ms: 2_000,
          stream,
          url: service.url,
          apiKey: service.apiKey,
        });
        load.rates.push(applicationsPerSecond);
      }
    })();
    await sleep(2_000);
    const bars: Bar[] = [];
    for (const kind of kinds) bars.push(await timed(kind, rounds));
    load.running = false;
    await loading;
    console.log(
      `meanwhile ${number(load.rates.reduce((a, b) => a + b, 0) / load.rates.length)} applications/s were registered`,
    );
    return bars;
  } finally {
    loader.stop();
    await service.stop();
  }
}

/** Resolves when the queue is whole. */
export async function expanded(admin: pg.Client): Promise<void> {
  const left = 'SELECT FROM review_queue WHERE NOT is_expanded LIMIT 1';
  while ((await admin.query(left)).rowCount !== 0) await sleep(250);
}

/** Adds an operator. Resolves to the cookie of a whole session. */
export async function signedIn({ admin, dataDir, remac }: ServiceProcess, login: string): Promise<string> {
  const { id } = (await admin.query(ADD_OPERATOR, [login])).rows[0];
  await remac();
  const vault = new Vault(await secretsOfDataDir(dataDir, false, machineClock));
  const session = admin as never;
  const { cookie, key } = newSession();
  await startSession(session, vault, key, {
    account: (await lockAccount(session, vault, id))!,
    isWhole: true,
  });
  return cookie;
}

type Reviewer = <Answer = Record<string, unknown>>(
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

/** Asks the operator API. Throws for an answer that is neither good nor a conflict. */
export function reviewerAt(url: string, cookie: string): Reviewer {
  return async <Answer>(method: string, path: string, body?: unknown, headers = {}) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        Cookie: `ventanilla=${cookie}`,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as Answer;
    if (!response.ok && response.status !== 409)
      throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  };
}

async function kindsOf(ask: Reviewer, admin: pg.Client): Promise<Asked[]> {
  const { rows } = await admin.query(
    'SELECT application_id AS id FROM review_items ORDER BY random() LIMIT 500',
  );
  const ids: string[] = rows.map(({ id }) => id);
  const next = () => ids[Math.floor(Math.random() * ids.length)]!;
  const kinds: Asked[] = [];
  for (const order of ORDERS) {
    for (const filter of FILTERS) {
      const path = `/review-queue?order=${order}&${filter}`;
      kinds.push({ name: `${order} ${filter || 'all'}`, ask: async () => void (await ask('GET', path)) });
    }
    let cursor = '';
    const deep = async () => {
      const page = await ask('GET', `/review-queue?order=${order}${cursor && `&cursor=${cursor}`}`);
      cursor = (page.next as string | null) ?? '';
    };
    kinds.push({ name: `${order}, page after page`, ask: deep });
    kinds.push({
      name: `claim-next by ${order}`,
      ask: async () => void (await ask('POST', '/review-queue/claim-next', { order })),
    });
  }
  const selecting = (name: string, filter: object): Asked => ({
    name: `selection ${name}`,
    ask: async () => void (await ask('POST', '/review-queue/selections', filter)),
  });
  return [
    ...kinds,
    {
      name: 'claim-next of a small partner',
      ask: async () => void (await ask('POST', '/review-queue/claim-next', { partner: 2 })),
    },
    { name: 'claim and release', ask: async () => claimAndRelease(ask, next()) },
    selecting('of thousands', { amount_to: 600 }),
    selecting('of a small partner', { partner: 2 }),
    selecting('of too many (409)', {}),
    { name: 'the lead’s view', ask: async () => void (await ask('GET', '/lead?days=90')) },
    { name: 'an application', ask: async () => void (await ask('GET', `/applications/${next()}`)) },
    { name: 'neighbours', ask: async () => void (await ask('GET', `/applications/${next()}/neighbours`)) },
    ...VIEWS.flatMap((view) =>
      ['', '&currency=MXN', '&partner=2'].map((filter) => ({
        name: `view ${view}${filter}`,
        ask: async () => void (await ask('GET', `/applications?view=${view}${filter}`)),
      })),
    ),
    ...['+573005550101', '12345678', 'bench'].map((q) => ({
      name: `search ${q}`,
      ask: async () => void (await ask('POST', '/search', { q })),
    })),
    { name: 'a person', ask: async () => void (await ask('GET', `/persons/${next()}`)) },
    ...(await inboxKinds(ask)),
    ...(await pageKinds(ask)),
  ];
}

/** The inbox, with its first page, a page after the others, and a claim. */
async function inboxKinds(ask: Reviewer): Promise<Asked[]> {
  let cursor = '';
  const deep = async () => {
    const page = await ask('GET', `/inbox?state=waiting${cursor && `&cursor=${cursor}`}`);
    cursor = (page.next as string | null) ?? '';
  };
  const { conversations } = await ask<{ conversations: { application_id: number }[] }>('GET', '/inbox');
  const one = conversations[0]!.application_id;
  return [
    ...['waiting', 'answered'].map((state) => getting(ask, `/inbox?state=${state}`)),
    { name: 'inbox, page after page', ask: deep },
    getting(ask, `/conversations/${one}`, 'a conversation of the inbox'),
    { name: 'inbox: claim next', ask: async () => void (await ask('POST', '/inbox/claim-next', {})) },
  ];
}

/** The pages of the business, of partners and of the service. */
async function pageKinds(ask: Reviewer): Promise<Asked[]> {
  const since = new Date(machineClock.nowMs() - 700 * 86_400_000).toISOString().slice(0, 10);
  const { requests } = await ask<{ requests: { request_id: string }[] }>('GET', '/partners/1/requests');
  return [
    ...['day', 'week', 'month'].flatMap((by) => [
      getting(ask, `/business/period?by=${by}`),
      getting(ask, `/business/period?by=${by}&partner=3&currency=COP`),
      getting(ask, `/business?by=${by}&since=${since}`, `/business?by=${by}, from the first of two years`),
    ]),
    ...['approved', 'signed'].map((number) =>
      getting(ask, `/business/applications?by=month&number=${number}`),
    ),
    ...['/partners', '/partners/1', '/partners/1/refusals', '/partners/1/requests'].map((path) =>
      getting(ask, path),
    ),
    getting(ask, `/partners/1/requests?request_id=${requests.at(-1)!.request_id}`, 'a request by its id'),
    ...['/operators', '/health', '/saved-views'].map((path) => getting(ask, path)),
  ];
}

function getting(ask: Reviewer, path: string, name = path): Asked {
  return { name, ask: async () => void (await ask('GET', path)) };
}

async function claimAndRelease(ask: Reviewer, id: string): Promise<void> {
  await ask('POST', `/applications/${id}/claim`, {});
  await ask('POST', `/applications/${id}/release`, {});
}

async function timed({ name, ask }: Asked, rounds: number): Promise<Bar> {
  // The first one compiles and fills caches.
  await ask();
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const begunMs = performance.now();
    await ask();
    times.push(performance.now() - begunMs);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]!;
  console.log(
    `${name.padEnd(60)} p50 ${number(at(0.5), 1).padStart(7)} ms   p95 ${number(at(0.95), 1).padStart(7)} ms`,
  );
  return { name, figure: at(0.95), direction: 'at most', bound: BOUND_MS, unit: 'ms' };
}
