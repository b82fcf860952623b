/** The stage of the throughput phases: services of their own, and processes that load them. */
import { readFile } from 'node:fs/promises';
import { CostMeter, type Costs } from './costs.ts';
import { type Delivering, startDelivering } from './delivering.ts';
import { type Measured, worker } from './phase.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';

export interface Phase {
  readonly name: string;
  /** Takes the load: a service, or the lean statement on the database of the empty service. */
  readonly on: 'ceiling' | 'empty' | 'delivering';
  readonly concurrency: number;
  readonly size: number;
  readonly cap?: number;
  /** Batches a statement of the ceiling. */
  readonly together?: number;
}

/** Statements to make beforehand, for each second: more than any machine runs. */
const MOST_SINGLE_STATEMENTS = 40_000;
const MOST_APPLICATIONS = 250_000;

/** The figures of a phase, with costs where the system shows them. */
export type PhaseFigures = Measured & Partial<Costs>;

/** The services of the phases, the load, and the ceiling's process. */
export class Stage {
  /** Messages a second that were delivered during each phase. */
  readonly meanwhile: number[] = [];
  readonly #ms: number;
  readonly #services: Readonly<Record<string, ServiceProcess>>;
  readonly #delivering: Delivering | null;
  readonly #loader = worker('./load.ts');
  readonly #ceiling = worker('./ceiling.ts');
  #stream = 1;

  static async start(phases: readonly Phase[], ms: number): Promise<Stage> {
    const needs = (on: Phase['on']) => phases.some((phase) => phase.on === on);
    const services: Record<string, ServiceProcess> = {};
    if (needs('empty') || needs('ceiling')) {
      services.empty = await startServiceProcess();
      await services.empty.admin.query(await readFile(new URL('./ceiling.sql', import.meta.url), 'utf8'));
    }
    const delivering = needs('delivering') ? await startDelivering() : null;
    if (delivering !== null) services.delivering = delivering.service;
    return new Stage(services, delivering, ms);
  }

  private constructor(services: Record<string, ServiceProcess>, delivering: Delivering | null, ms: number) {
    this.#services = services;
    this.#delivering = delivering;
    this.#ms = ms;
  }

  async run(phase: Phase): Promise<PhaseFigures> {
    const service = this.#services[phase.on === 'ceiling' ? 'empty' : phase.on] as ServiceProcess;
    const meter = await CostMeter.of(service);
    if (meter === null) return this.#load(phase);
    const { result, costs } = await meter.during(
      () => this.#load(phase),
      ({ applicationsPerSecond }) => (applicationsPerSecond * this.#ms) / 1000,
    );
    return { ...result, ...costs };
  }

  async #load({ on, concurrency, size, cap, together = 1 }: Phase): Promise<Measured> {
    const work = { concurrency, size, ms: this.#ms, stream: this.#stream++ };
    if (on === 'ceiling') {
      const { connectionString } = this.#services.empty as ServiceProcess;
      const most = size === 1 ? MOST_SINGLE_STATEMENTS : MOST_APPLICATIONS / (size * together);
      const statements = Math.ceil((this.#ms / 1000) * most);
      return this.#ceiling.run({ ...work, together, connectionString, statements });
    }
    const { url, apiKey, admin, remac } = this.#services[on] as ServiceProcess;
    await admin.query('UPDATE api_keys SET daily_cap = $1', [cap ?? null]);
    await remac();
    const load = () => this.#loader.run({ ...work, url, apiKey });
    if (on !== 'delivering' || this.#delivering === null) return load();
    const { result, messagesPerSecond } = await this.#delivering.during(load);
    this.meanwhile.push(messagesPerSecond);
    return result;
  }

  /** Messages a second without a load; null where no service delivers. */
  async deliverAlone(): Promise<number | null> {
    return this.#delivering === null ? null : this.#delivering.alone(this.#ms);
  }

  async stop(): Promise<void> {
    this.#loader.stop();
    this.#ceiling.stop();
    for (const service of Object.values(this.#services)) await service.stop();
  }
}
