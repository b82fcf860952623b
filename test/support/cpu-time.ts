/** The CPU that work takes. Another program on the machine makes the work longer, but does not use its CPU. */

/** How many milliseconds of CPU this process, its threads included, uses until `work` is done. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const since = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
}
