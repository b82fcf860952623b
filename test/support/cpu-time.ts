/** The CPU that work takes. Another program on the machine makes the work longer, but does not use its CPU. */

import { readFileSync } from 'node:fs';

/** How many milliseconds of CPU this process, its threads included, uses until `work` is done. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const since = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
}

/** The same of the processes that this one starts and that end until `work` is done. Linux alone tells it. */
export async function childrenCpuMsOf(work: () => unknown): Promise<number> {
  const since = childrenCpuMs();
  await work();
  return childrenCpuMs() - since;
}

/** proc(5): `cutime` and `cstime`, in hundredths of a second, behind the name in parentheses. */
function childrenCpuMs(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return 10 * (Number(fields[13]) + Number(fields[14]));
}
