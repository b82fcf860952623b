/**
 * What messages of conversations cost the ingest of batches on the same machine. Interleaved rounds of five phases:
 * messages alone; batches at a share of the machine's rate (an open loop), without and beside messages; batches as fast
 * as they are answered (a closed loop), without and beside. A closed loop uses all cores, so it has to lose what the
 * messages use. That is what they add to the CPU of batches at that share: alone, messages go through in smaller groups
 * and cost more.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bar, number } from './bars.ts';
import type { ConversationStage } from './conversation-stage.ts';
import type { Flood, FloodResult } from './flood.ts';
import { median, worker } from './phase.ts';
import { cpuMs, parentOf, serverCpuMs } from './processes.ts';
import type { Webhooks, WebhooksResult } from './webhooks.ts';

const SIZE = 100;
const CONNECTIONS = 16;
/** More than an open loop needs, so that it sends on time. */
const OPEN_CONNECTIONS = 200;
const SETTLE_MS = 20_000;

const PHASES = ['messages', 'paced', 'paced beside', 'closed', 'closed beside'] as const;
type PhaseName = (typeof PHASES)[number];

interface Figures {
  readonly batches: FloodResult | null;
  readonly messages: WebhooksResult | null;
  /** Milliseconds of CPU, also of what is left to do at the end of the phase. */
  readonly serviceMs: number;
  readonly postgresMs: number;
  readonly loadMs: number;
  /** Turns that were taken. */
  readonly turns: number;
}

interface IngestOptions {
  /** Of a phase. */
  readonly seconds: number;
  /** Messages in a second. */
  readonly rate: number;
  /** Messages in one webhook. */
  readonly together: number;
  /** The open loop's rate of batches, of the closed loop's. */
  readonly share: number;
  readonly rounds: number;
}

type MessageLoad = Pick<IngestOptions, 'rate' | 'together'>;

/** Measures, prints the medians of the rounds, and returns the bars. */
export async function benchIngest(
  stage: ConversationStage,
  { seconds, rate, together, share, rounds }: IngestOptions,
): Promise<Bar[]> {
  const ingest = await Ingest.start(stage, seconds * 1000, share, { rate, together });
  const found = new Map<PhaseName, Figures[]>(PHASES.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const name of PHASES) found.get(name)!.push(await ingest.run(name));
  }
  ingest.stop();
  const of = (name: PhaseName, figure: (one: Figures) => number) => median(found.get(name)!.map(figure));
  for (const name of PHASES) console.log(line(name, (figure) => of(name, figure)));
  const cpu = ({ serviceMs, postgresMs, loadMs }: Figures) => serviceMs + postgresMs + loadMs;
  const used = of('paced beside', cpu) - of('paced', cpu);
  const perMessage = (ms: number) => `${number((ms * 1000) / (rate * seconds))} us`;
  console.log(
    `CPU of a message, with the load: ${perMessage(of('messages', cpu))} alone, ${perMessage(used)} beside batches`,
  );
  const goodput = (one: Figures) => one.batches!.applicationsPerSecond;
  const ratio = (over: PhaseName, under: PhaseName) => of(over, goodput) / of(under, goodput);
  const cpuRatio = of('closed', cpu) / (of('closed', cpu) - used);
  return [
    {
      name: 'paced goodput beside messages',
      figure: ratio('paced beside', 'paced'),
      direction: 'at least',
      bound: 0.95,
    },
    {
      name: 'closed loop beside messages, for the same CPU',
      figure: ratio('closed beside', 'closed') * cpuRatio,
      direction: 'at least',
      bound: 0.95,
    },
    {
      name: 'messages without an answer',
      figure: of('paced beside', ({ messages }) => messages!.refused),
      direction: 'at most',
      bound: 0,
      unit: 'messages',
    },
  ];
}

function line(name: PhaseName, of: (figure: (one: Figures) => number) => number): string {
  const parts = [name.padEnd(14)];
  if (name !== 'messages') {
    const goodput = of(({ batches }) => batches!.applicationsPerSecond);
    const [p50, p99] = [
      of(({ batches }) => batches!.answered.p50),
      of(({ batches }) => batches!.answered.p99),
    ];
    parts.push(`${number(goodput)} applications/s, p50 ${number(p50)} ms, p99 ${number(p99)} ms`);
  }
  if (name === 'messages' || name.endsWith('beside')) {
    parts.push(
      `${number(of(({ turns }) => turns))} turns, webhook p99 ${number(of(({ messages }) => messages!.p99))} ms`,
    );
  }
  const cpu = (['serviceMs', 'postgresMs', 'loadMs'] as const).map((one) =>
    number(of((figures) => figures[one])),
  );
  parts.push(`CPU of service, PostgreSQL and load: ${cpu.join(', ')} ms`);
  return parts.join('   ');
}

class Ingest {
  readonly #stage: ConversationStage;
  readonly #ms: number;
  readonly #load: MessageLoad;
  readonly #postmaster: number;
  readonly #flood = worker<Flood, FloodResult>('./flood.ts');
  readonly #webhooks = worker<Webhooks, WebhooksResult>('./webhooks.ts');
  #perSecond = 0;
  #stream = 1;

  static async start(
    stage: ConversationStage,
    ms: number,
    share: number,
    load: MessageLoad,
  ): Promise<Ingest> {
    const { rows } = await stage.service.admin.query('SELECT pg_backend_pid() AS pid');
    const ingest = new Ingest(stage, ms, load, parentOf(rows[0].pid));
    // Warms up compilers and caches, and tells how much the machine takes.
    await ingest.#batches(null, 2_000);
    const { applicationsPerSecond } = await ingest.#batches(null, ms);
    ingest.#perSecond = (applicationsPerSecond * share) / SIZE;
    console.log(`closed loop: ${number(applicationsPerSecond)} applications/s; paced at ${share} of it`);
    return ingest;
  }

  private constructor(stage: ConversationStage, ms: number, load: MessageLoad, postmaster: number) {
    this.#stage = stage;
    this.#ms = ms;
    this.#load = load;
    this.#postmaster = postmaster;
  }

  async run(name: PhaseName): Promise<Figures> {
    await this.#settled();
    const before = await this.#read();
    const [batches, messages] = await Promise.all([
      name === 'messages' ? null : this.#batches(name.startsWith('paced') ? this.#perSecond : null, this.#ms),
      name === 'messages' || name.endsWith('beside') ? this.#messages() : null,
    ]);
    // The replies may lag behind the webhooks' answers.
    await this.#settled();
    const after = await this.#read();
    return {
      ...{ batches, messages },
      serviceMs: after.serviceMs - before.serviceMs,
      postgresMs: after.postgresMs - before.postgresMs,
      loadMs: after.loadMs - before.loadMs,
      turns: after.turns - before.turns,
    };
  }

  stop(): void {
    this.#flood.stop();
    this.#webhooks.stop();
  }

  #batches(perSecond: number | null, ms: number): Promise<FloodResult> {
    const { url, apiKey } = this.#stage.service;
    const connections = perSecond === null ? CONNECTIONS : OPEN_CONNECTIONS;
    return this.#flood.run({ url, apiKey, size: SIZE, connections, perSecond, ms, stream: this.#stream++ });
  }

  #messages(): Promise<WebhooksResult> {
    const { webhook, appSecret, persons } = this.#stage;
    const phones = persons.map(({ phone }) => phone);
    return this.#webhooks.run({
      url: webhook,
      appSecret,
      phones,
      text: 'sí',
      perSecond: this.#load.rate,
      together: this.#load.together,
      ms: this.#ms,
    });
  }

  /** Nothing of the phase before is left to do: no input waits, and no reply. */
  async #settled(): Promise<void> {
    const left = `
      SELECT (SELECT count(*) FROM conversation_inputs WHERE turn IS NULL)
        + (SELECT count(*) FROM replies WHERE status IN ('queued', 'sending')) AS count`;
    const until = performance.now() + SETTLE_MS;
    while (performance.now() < until) {
      const { rows } = await this.#stage.service.admin.query<{ count: string }>(left);
      if (Number(rows[0]?.count) === 0) return;
      await sleep(200);
    }
  }

  async #read() {
    const { service } = this.#stage;
    const { rows } = await service.admin.query<{ turns: string }>(
      'SELECT sum(turn) AS turns FROM conversations',
    );
    return {
      serviceMs: cpuMs(service.pid),
      postgresMs: serverCpuMs(this.#postmaster),
      loadMs: [process.pid, this.#flood.pid, this.#webhooks.pid].reduce((sum, pid) => sum + cpuMs(pid), 0),
      turns: Number(rows[0]?.turns ?? 0),
    };
  }
}
