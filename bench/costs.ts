/** What a load costs: CPU of the service and of PostgreSQL, and write-ahead log. Of Linux alone: it reads /proc. */
import { readdirSync, readFileSync } from 'node:fs';
import type { ServiceProcess } from './service-process.ts';

/** An application. */
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

/** Of a process's line in /proc, behind its name: the system counts in hundredths of a second. */
const PARENT = 1;
const OWN_TICKS = [11, 12] as const;
const ENDED_CHILDREN_TICKS = [13, 14] as const;
const TICK_MS = 10;

export class CostMeter {
  readonly #service: ServiceProcess;
  readonly #postmaster: number;

  /** Null where the system has no /proc. */
  static async of(service: ServiceProcess): Promise<CostMeter | null> {
    if (process.platform !== 'linux') return null;
    const { rows } = await service.admin.query('SELECT pg_backend_pid() AS pid');
    return new CostMeter(service, Number(fieldsOf(rows[0].pid)[PARENT]));
  }

  private constructor(service: ServiceProcess, postmaster: number) {
    this.#service = service;
    this.#postmaster = postmaster;
  }

  /** Runs `work`, which says how many applications it registered, and what one of them cost. */
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
    const children = processes().filter((pid) => Number(fieldsOf(pid)[PARENT]) === this.#postmaster);
    return {
      serviceMs: cpuMs(this.#service.pid, OWN_TICKS),
      postgresMs:
        cpuMs(this.#postmaster, [...OWN_TICKS, ...ENDED_CHILDREN_TICKS]) +
        children.reduce((sum, pid) => sum + cpuMs(pid, OWN_TICKS), 0),
      walBytes: rows[0].bytes,
    };
  }
}

function processes(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

function cpuMs(pid: number, ticks: readonly number[]): number {
  const fields = fieldsOf(pid);
  return ticks.reduce((sum, place) => sum + Number(fields[place] ?? 0), 0) * TICK_MS;
}

/** Empty for a process that has ended meanwhile. */
function fieldsOf(pid: number): string[] {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return line.slice(line.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
