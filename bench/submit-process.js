/** The command line as it is, in a process that says at its end what it used: one line on standard error. */
process.once('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  process.stderr.write(
    `\n${JSON.stringify({ cpuMs: (userCPUTime + systemCPUTime) / 1000, rssMiB: maxRSS / 1024 })}\n`,
  );
});
await import('../src/start.js');
