/** A process that opens the server under argv[2], prints its address, and closes it when its input ends. */
import { machineClock } from '../../src/ground/base/clock.ts';
import { openEmbedded } from '../../src/ground/embedded/server.ts';

const server = await openEmbedded({ dataDir: process.argv[2]!, clock: machineClock });
process.stdout.write(`${JSON.stringify(server.superuser)}\n`);
process.stdin.resume().on('end', () => {
  server.close().catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  });
});
