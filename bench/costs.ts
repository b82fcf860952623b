/**
 * Measures what a load costs: CPU of the service and of PostgreSQL, and write-ahead log. Linux only: it reads /proc.
 */
import { cpuMs, parentOf, serverCpuMs } from './processes.ts';
import type { ServiceProcess } from './service-process.ts';

/** The cost of one application. */
export interface Costs {
  /** Microseconds of CPU. */
  readonly serviceCpu: number;
  readonly postgresCpu: number;
  /** Bytes. */
  readonly wal: number;
}

interface Reading {
  readonly serviceMs: number;
  readonly postgresMs: number;
  readonly walBytes: number;
}

export class CostMeter {
  readonly #service: ServiceProcess;
  readonly #postmaster: number;

  /** Null where the system has no /proc. */
  static async of(service: ServiceProcess): Promise<CostMeter | null> {
    if (process.platform !== 'linux') return null;
    const { rows } = await service.admin.query('SELECT pg_backend_pid() AS pid');
    return new CostMeter(service, parentOf(rows[0].pid));
  }

  private constructor(service: ServiceProcess, postmaster: number) {
    this.#service = service;
    this.#postmaster = postmaster;
  }

  /**
   * Runs `work`, which returns how many applications it registered. Resolves to that and the cost of one application.
   */
  async during<T>(
    work: () => Promise<T>,
    count: (result: T) => number,
  ): Promise<{ result: T; costs: Costs }> {
    const before = await this.#read();
    const result = await work();
    const after = await this.#read();
    const applications = count(result);
    return {
      result,
      costs: {
        serviceCpu: ((after.serviceMs - before.serviceMs) * 1000) / applications,
        postgresCpu: ((after.postgresMs - before.postgresMs) * 1000) / applications,
        wal: (after.walBytes - before.walBytes) / applications,
      },
    };
  }

  async #read(): Promise<Reading> {
    const { rows } = await this.#service.admin.query(
      "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS bytes",
    );
    return {
      serviceMs: cpuMs(this.#service.pid),
      postgresMs: serverCpuMs(this.#postmaster),
      walBytes: rows[0].bytes,
    };
  }
}
