/** Measures what an idle service takes, together with its embedded server. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bar, number } from './bars.ts';
import { cpuMs, memoryBytes, parentOf, serverCpuMs, serverMemoryBytes } from './processes.ts';
import { startServiceProcess } from './service-process.ts';

/** The work after a start is done by then. */
const SETTLE_MS = 15_000;
const MEASURE_MS = 60_000;
const NAME = 'idle';
/**
 * What PostgreSQL's own tables of its buffers take, in MB for each GiB of `shared_buffers`, which follow the machine's
 * memory (src/ground/embedded/start.ts): the server of an empty store had 46, 68 and 112 MB with 1, 2 and 4 GiB. The
 * bar is for a machine with 1 GiB of them, so that it is the same on every machine.
 */
const TABLES_MB_A_GIB = 22;

/** Measures unless `only` names something else, prints the figures, and returns the bars. */
export async function benchIdle({ only }: { only: string }): Promise<Bar[]> {
  const idle = NAME.includes(only) && process.platform === 'linux' ? await measure() : null;
  return [
    {
      name: 'idle: CPU',
      figure: idle?.cpuPercent ?? null,
      direction: 'at most',
      bound: 1,
      unit: '% of a core',
    },
    {
      name: 'idle: memory, as with 1 GiB of shared_buffers',
      figure: idle?.megabytes ?? null,
      direction: 'at most',
      bound: 200,
      unit: 'MB',
    },
  ];
}

async function measure(): Promise<{ cpuPercent: number; megabytes: number }> {
  // Starts twice, because the program is compiled from its second start on.
  await (await startServiceProcess()).stop();
  const service = await startServiceProcess({ DELIVERY: 'on' });
  const { rows } = await service.admin.query('SELECT pg_backend_pid() AS pid');
  const postmaster = parentOf(rows[0].pid);
  await sleep(SETTLE_MS);
  const before = { service: cpuMs(service.pid), server: serverCpuMs(postmaster) };
  await sleep(MEASURE_MS);
  const cpu = {
    service: (cpuMs(service.pid) - before.service) / (MEASURE_MS / 100),
    server: (serverCpuMs(postmaster) - before.server) / (MEASURE_MS / 100),
  };
  const memory = { service: memoryBytes(service.pid) / 1e6, server: serverMemoryBytes(postmaster) / 1e6 };
  const { rows: settings } = await service.admin.query(
    "SELECT pg_size_bytes(current_setting('shared_buffers'))::float8 / 1024 ^ 3 AS gib",
  );
  const buffersGib: number = settings[0].gib;
  await service.stop();
  console.log(`\n${NAME}, for a minute, with one session beside the service's own`);
  for (const part of ['service', 'server'] as const) {
    console.log(`  ${part}: ${number(cpu[part], 2)} % of a core, ${number(memory[part])} MB`);
  }
  console.log(`  shared_buffers: ${number(buffersGib, 2)} GiB`);
  const tables = (buffersGib - 1) * TABLES_MB_A_GIB;
  return { cpuPercent: cpu.service + cpu.server, megabytes: memory.service + memory.server - tables };
}
