/**
 * Submits the applications of a file with the TypeScript client, and shows the outcome of each.
 *
 *     VENTANILLA_URL=https://host/DEV VENTANILLA_API_KEY=... node submit.ts batch.json
 *
 * The file is {"applications": [...]} with any number of applications. The exit code is 0 where all were registered, 2
 * where some were not, and 1 after an error. `.ts` runs on Node from 22.18 on.
 */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
// In a project of your own, import from 'ventanilla-client'.
import { type Application, type Outcome, VentanillaClient } from '../client/src/index.ts';

function describe(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'registered':
      return `${outcome.decision}, score ${outcome.score}, id ${outcome.id}`;
    case 'quota_exceeded':
      return `not registered: the quota of ${outcome.dailyCap} a day is used up`;
    default:
      return `not registered: ${outcome.error}`;
  }
}

async function main(): Promise<number> {
  const { VENTANILLA_URL: url, VENTANILLA_API_KEY: apiKey } = process.env;
  const file = process.argv[2];
  if (!url || !apiKey || !file) {
    console.error('usage: VENTANILLA_URL=... VENTANILLA_API_KEY=... node submit.ts FILE');
    return 1;
  }
  const contents = await readFile(file, 'utf8');
  const { applications } = JSON.parse(contents) as { applications?: Application[] };
  if (!Array.isArray(applications)) throw new Error('the file has no list "applications"');
  const client = new VentanillaClient({ url, apiKey });

  let notRegistered = 0;
  // The submission is named after the file's contents. Within 24 hours, after a crash for example, a second run with
  // the same file gets the same answers and registers nobody twice.
  const submissionId = hash('sha256', contents);
  const onRetry = ({ error, delayMs }: { error: Error; delayMs: number }) =>
    console.error(`${error.message}, next attempt in ${(delayMs / 1000).toFixed(1)} s`);
  for await (const { index, outcome } of client.stream(applications, { submissionId, onRetry })) {
    console.log(`application ${index + 1}: ${describe(outcome)}`);
    if (outcome.kind !== 'registered') notRegistered += 1;
  }
  console.log(`${applications.length - notRegistered} registered, ${notRegistered} not`);
  return notRegistered === 0 ? 0 : 2;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? `${error.name}: ${error.message}` : error);
  process.exitCode = 1;
}
