#!/usr/bin/env node
/** Starts the program where this Node can run it. An old Node has to understand this file to say so. */
const NEEDED = [22, 13];

// At this signal Node opens its inspector, to which every user of the machine may connect.
process.on('SIGUSR1', () => {});

const [major, minor] = process.versions.node.split('.').map(Number);

if (major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1])) {
  process.stderr.write(
    `error: ventanilla-submit needs Node ${NEEDED.join('.')} or later; this is Node ${process.versions.node}\n`,
  );
  process.exitCode = 1;
} else {
  import('./dist/packages/submit/src/main.js');
}
