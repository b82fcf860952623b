#!/usr/bin/env node
/**
 * Starts the program if this Node can run it. An old Node has to understand this file to say so: the file has no
 * `import` of its own, no `import.meta`, and no `await`. It is JavaScript because the first TypeScript file of a
 * process costs 40 ms.
 */
const NEEDED = 24;

// At this signal Node opens its inspector, to which every user of the machine may connect. Packages and checkouts start
// Node by its name alone, without --disable-sigusr1.
process.on('SIGUSR1', () => {});

if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  process.stderr.write(
    `error: Ventanilla needs Node ${NEEDED} or later; this is Node ${process.versions.node}\n`,
  );
  process.exitCode = 1;
} else {
  import('./run.js');
}
