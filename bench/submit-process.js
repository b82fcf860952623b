/** Runs the command line, and at its end writes a line to stderr with what the process used. */
process.once('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  process.stderr.write(
    `\n${JSON.stringify({ cpuMs: (userCPUTime + systemCPUTime) / 1000, rssMiB: maxRSS / 1024 })}\n`,
  );
});
await import('../src/start.js');
