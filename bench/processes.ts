/** The CPU and memory of processes. Linux only: it reads /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** Fields of a process's line in /proc, after its name. The system counts in hundredths of a second. */
const PARENT = 1;
const OWN_TICKS = [11, 12] as const;
const ENDED_CHILDREN_TICKS = [13, 14] as const;
const TICK_MS = 10;

export function parentOf(pid: number): number {
  return Number(fieldsOf(pid)[PARENT]);
}

/** The CPU of a process since its start, in milliseconds. */
export function cpuMs(pid: number): number {
  return ticksMs(pid, OWN_TICKS);
}

/** The CPU of a PostgreSQL server: of its first process and of all processes that this one started. */
export function serverCpuMs(postmaster: number): number {
  const own = ticksMs(postmaster, [...OWN_TICKS, ...ENDED_CHILDREN_TICKS]);
  return childrenOf(postmaster).reduce((sum, pid) => sum + cpuMs(pid), own);
}

/** The CPU of the children of this process that have ended, in milliseconds. */
export function endedChildrenCpuMs(): number {
  return ticksMs(process.pid, ENDED_CHILDREN_TICKS);
}

/** Bytes of memory. Memory that processes share is divided among them (PSS), so the numbers can be added up. */
export function memoryBytes(pid: number): number {
  const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(readProc(pid, 'smaps_rollup'))?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

export function serverMemoryBytes(postmaster: number): number {
  return [postmaster, ...childrenOf(postmaster)].reduce((sum, pid) => sum + memoryBytes(pid), 0);
}

function childrenOf(parent: number): number[] {
  const all = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return all.filter((pid) => parentOf(pid) === parent);
}

function ticksMs(pid: number, ticks: readonly number[]): number {
  const fields = fieldsOf(pid);
  return ticks.reduce((sum, place) => sum + Number(fields[place] ?? 0), 0) * TICK_MS;
}

function fieldsOf(pid: number): string[] {
  const line = readProc(pid, 'stat');
  return line.slice(line.lastIndexOf(')') + 2).split(' ');
}

/** The text; empty for a process that has ended meanwhile. */
function readProc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}
