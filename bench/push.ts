/**
 * `npm run bench:push`: real workers push partner events to endpoints in this process. It measures how long an event
 * takes from its commit to its receipt, alone and beside 100,000 waiting pushes of 50 partners, one of them dead; and
 * it sends many events through an endpoint that fails a fifth of the pushes. The exit code is 1 where a bar is missed.
 * `--seconds N`, `--events N`, `--workers N`, `--only PART`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { judge, number } from './bars.ts';
import { numberOption, readOptions } from './options.ts';
import { type Receipt, type Refusal, startPushStage } from './push-stage.ts';

const options = readOptions({
  seconds: { default: '20', about: 'how long each latency is measured' },
  events: { default: '10000', about: 'how many events go through the endpoint with faults' },
  workers: { default: '2', about: 'how many workers push' },
  only: { default: '', about: 'only this part: latency, backlog or faults' },
});
const seconds = numberOption('seconds', options.seconds, 1);
const count = numberOption('events', options.events, 100);
const workers = numberOption('workers', options.workers, 1);
const runs = (part: string) => options.only === '' || options.only === part;

const CHANGES_PER_SECOND = 200;
/** Beside backlogs that use all that the workers can do: less than the partner's share of it. */
const FEW_PER_SECOND = 50;
const PARTNERS = 50;
const WAITING = 50_000;
/** The bar: from the commit of a change to its receipt. */
const P99_MS = 2_000;
const LIMIT_MS = 130_000;

const stage = await startPushStage(workers);
let alone: number[] | null = null;
let besideBacklogs: number[] | null = null;
let besideDead: number[] | null = null;
let wrong: string[] | null = null;
try {
  await warmUp();
  if (runs('latency')) {
    alone = await latencies('one healthy endpoint', CHANGES_PER_SECOND);
  }
  if (runs('backlog')) [besideBacklogs, besideDead] = await backlog();
  if (runs('faults')) wrong = await faults();
} finally {
  await stage.stop();
}
judge([
  { name: 'p99, commit to receipt', figure: p99(alone), direction: 'at most', bound: P99_MS, unit: 'ms' },
  {
    name: 'p99 while 49 others catch up, one of 50 is dead',
    figure: p99(besideBacklogs),
    direction: 'at most',
    bound: P99_MS,
    unit: 'ms',
  },
  {
    name: 'p99 beside 50,000 waiting of a dead endpoint',
    figure: p99(besideDead),
    direction: 'at most',
    bound: P99_MS,
    unit: 'ms',
  },
  {
    name: 'events lost, out of order, or not once in the feed',
    figure: wrong?.length ?? null,
    direction: 'at most',
    bound: 0,
    unit: 'events',
  },
]);

/** The workers have started, and their code is compiled. */
async function warmUp(): Promise<void> {
  const partnerId = await stage.addPartner();
  await stage.fill(partnerId, 2_000);
  await until(async () => (await stage.waiting()) === 0);
}

/** Commits changes of a new partner at a steady rate; the milliseconds from each commit to its receipt. */
async function latencies(what: string, perSecond: number): Promise<number[]> {
  const partnerId = await stage.addPartner();
  const committedAt = new Map<number, number>();
  const startedMs = performance.now();
  const commits: Promise<void>[] = [];
  for (let n = 0; n < seconds * perSecond; n += 1) {
    await sleep(Math.max(startedMs + (n * 1_000) / perSecond - performance.now(), 0));
    const applicationId = stage.applicationIds[n % stage.applicationIds.length]!;
    commits.push(
      stage.addEvents(partnerId, [applicationId]).then((number) => {
        committedAt.set(number, performance.now());
      }),
    );
  }
  await Promise.all(commits);
  await until(() => firstReceipts(stage.receiptsOf(partnerId)).size === committedAt.size);
  const times = [...firstReceipts(stage.receiptsOf(partnerId))].map(([number, atMs]) =>
    // A receipt may come before this process hears of the commit.
    Math.max(atMs - (committedAt.get(number) ?? 0), 0),
  );
  print(what, perSecond, times);
  return times;
}

/** 49 partners with pushes that wait, and one that hangs with as many alone; the latencies of one more partner. */
async function backlog(): Promise<[catchingUp: number[], dead: number[]]> {
  const dead = await stage.addPartner({ refuse: () => 'hang' });
  await stage.fill(dead, WAITING);
  for (let n = 1; n < PARTNERS; n += 1) {
    await stage.fill(await stage.addPartner(), Math.ceil(WAITING / (PARTNERS - 1)));
  }
  console.log(`\n${number(await stage.waiting())} pushes wait; claims of a worker take, in ms:`);
  console.log(`  ${(await stage.claimMs(dead)).map((ms) => number(ms, 1)).join('  ')}`);
  const catchingUp = await latencies('one more, while 49 catch up and one is dead', FEW_PER_SECOND);
  await until(async () => (await stage.waiting()) <= WAITING);
  const besideIt = await latencies('one more, beside 50,000 of the dead one', CHANGES_PER_SECOND);
  await stage.disable(dead);
  await until(async () => (await stage.waiting()) === 0);
  return [catchingUp, besideIt];
}

/** A fifth of the pushes fail, each in one of three ways. Returns a line for each broken promise. */
async function faults(): Promise<string[]> {
  const kinds: readonly [Refusal, share: number][] = [
    ['500', 0.095],
    ['reset', 0.095],
    ['hang', 0.01],
  ];
  const refuse = (): Refusal | null => {
    let left = Math.random();
    for (const [kind, share] of kinds) {
      if (left < share) return kind;
      left -= share;
    }
    return null;
  };
  const partnerId = await stage.addPartner({ refuse });
  const perApplication = 5;
  const startedMs = performance.now();
  const applications = stage.applicationIds.slice(0, Math.ceil(count / perApplication));
  for (let turn = 0; turn < perApplication; turn += 1) await stage.addEvents(partnerId, applications);
  await until(async () => {
    await stage.endWaits();
    return (await stage.waitingOf(partnerId)) === 0;
  });
  const receipts = stage.receiptsOf(partnerId);
  const taken = receipts.filter(({ refused }) => refused === null);
  const total = applications.length * perApplication;
  console.log(`\n${number(total)} events through an endpoint that fails a fifth of the pushes`);
  console.log(
    `  ${number(receipts.length)} pushes in ${Math.round((performance.now() - startedMs) / 1_000)} s`,
  );
  for (const [kind] of kinds) {
    console.log(
      `  ${kind.padEnd(6)}${number(receipts.filter(({ refused }) => refused === kind).length).padStart(8)}`,
    );
  }
  console.log(`  taken ${number(taken.length)}, of different events ${number(firstReceipts(taken).size)}`);
  return [...wrongReceipts(receipts, total), ...wrongFeed(await stage.feedOf(partnerId), total)];
}

/** Each event was taken, and no event was pushed before the earlier ones of its application were taken. */
function wrongReceipts(receipts: readonly Receipt[], total: number): string[] {
  const taken = new Set<number>();
  const lines: string[] = [];
  for (const { number: event, previous, refused } of receipts) {
    if (previous !== null && !taken.has(previous))
      lines.push(`event ${event} came before ${previous} was taken`);
    if (refused === null) taken.add(event);
  }
  for (let event = 1; event <= total; event += 1) if (!taken.has(event)) lines.push(`event ${event} is lost`);
  return lines;
}

function wrongFeed(numbers: readonly number[], total: number): string[] {
  const inOrder = numbers.every((event, index) => event === index + 1);
  return numbers.length === total && inOrder
    ? []
    : [`the feed has ${numbers.length} events, or has them out of order`];
}

function firstReceipts(receipts: readonly Receipt[]): Map<number, number> {
  const first = new Map<number, number>();
  for (const { number: event, atMs } of receipts) if (!first.has(event)) first.set(event, atMs);
  return first;
}

async function until(look: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAtMs = performance.now() + LIMIT_MS;
  while (!(await look())) {
    if (performance.now() > giveUpAtMs) throw new Error(`the pushes did not end in ${LIMIT_MS / 1_000} s`);
    await sleep(50);
  }
}

/** The smallest value that this share of the values does not exceed. */
function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(Math.ceil(share * sorted.length) - 1, 0)] ?? Number.NaN;
}

function p99(values: readonly number[] | null): number | null {
  return values === null ? null : percentile(values, 0.99);
}

function print(what: string, perSecond: number, values: readonly number[]): void {
  const [p50, p99, most] = [0.5, 0.99, 1].map((share) => number(percentile(values, share)));
  console.log(`\n${what}: ${perSecond} changes a second for ${seconds} s, ${number(values.length)} events`);
  console.log(`  commit to receipt, ms: p50 ${p50}, p99 ${p99}, most ${most}`);
}
