/**
 * Shows what became of your applications, with the TypeScript client.
 *
 *     VENTANILLA_URL=https://host/PRO VENTANILLA_API_KEY=... node events.ts cursor.txt [--follow]
 *
 * The file keeps the cursor: the id of the last event that was shown. The next run goes on from there, also after a
 * crash. With --follow the program waits for more events until Ctrl-C. The exit code is 1 after an error. `.ts` runs on
 * Node from 22.18 on.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';
// In a project of your own, import from 'ventanilla-client'.
import {
  AbortedError,
  CursorExpiredError,
  type PartnerEvent,
  VentanillaClient,
} from '../client/src/index.ts';

function describe(event: PartnerEvent): string {
  switch (event.type) {
    case 'application.status_changed':
      return `application ${event.data.id}: ${event.data.from} -> ${event.data.to} (${event.data.reasonCode})`;
    case 'application.interested':
      return `application ${event.data.id}: the applicant is interested`;
    case 'message.failed':
      return `application ${event.data.id}: the message "${event.data.message}" was not delivered`;
    case 'unknown':
      // The service is newer than this program. The event must not stop the others.
      return `an event of the type ${event.sentType}`;
    default:
      // Events of conversations, which come only where `types` asks for them.
      return `application ${event.data.id}: ${event.type}`;
  }
}

async function readCursor(file: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text.trim() || null;
}

/** Replaces the file at once: a crash leaves the old cursor or the new one. */
async function saveCursor(file: string, cursor: string): Promise<void> {
  await writeFile(`${file}.part`, `${cursor}\n`);
  await rename(`${file}.part`, file);
}

async function main(): Promise<number> {
  const { VENTANILLA_URL: url, VENTANILLA_API_KEY: apiKey } = process.env;
  const [file, flag] = process.argv.slice(2);
  if (!url || !apiKey || !file || (flag !== undefined && flag !== '--follow')) {
    console.error('usage: VENTANILLA_URL=... VENTANILLA_API_KEY=... node events.ts CURSOR_FILE [--follow]');
    return 1;
  }
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());
  const client = new VentanillaClient({ url, apiKey });
  const events = client.events({
    after: await readCursor(file),
    follow: flag === '--follow',
    pollMs: 5_000,
    signal: stop.signal,
    onRetry: ({ error, delayMs }) =>
      console.error(`${error.message}, next attempt in ${(delayMs / 1000).toFixed(1)} s`),
  });
  try {
    for await (const event of events) {
      console.log(`${event.timestamp} ${describe(event)}`);
      // Saved after the event was processed: a crash in between shows the event again, and loses none.
      await saveCursor(file, event.id);
    }
  } catch (error) {
    if (!(error instanceof AbortedError)) throw error;
  }
  return 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? `${error.name}: ${error.message}` : error);
  if (error instanceof CursorExpiredError) {
    console.error(
      'Remove the cursor file to begin with the oldest event, and check the applications that matter.',
    );
  }
  process.exitCode = 1;
}
