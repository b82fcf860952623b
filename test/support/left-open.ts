/**
 * Ends a test file that stays open after its tests, and says what keeps it open. Such a file would keep the run waiting
 * for ever, and what is open may be a leak of the program. Loaded before each file, by `--import`.
 */
if (process.env.NODE_TEST_CONTEXT === 'child-v8' && process.argv[1]?.endsWith('.test.ts')) {
  const { after } = await import('node:test');
  const patienceMs = Number(process.env.LEFT_OPEN_MS ?? 60_000);
  after(() => {
    setTimeout(() => {
      const open = process.getActiveResourcesInfo().join(', ');
      process.stderr.write(`error: open ${patienceMs / 1000} s after the last test: ${open}\n`);
      process.exit(1);
    }, patienceMs).unref();
  });
}

export {};
