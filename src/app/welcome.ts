/**
 * Writes the text that `serve` prints when it listens (README.md, "Two commands"). Looks only whether the demo is
 * there.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { FIELDS, NOTED_FIELDS } from '../domain/application/fields.ts';

/** Only a checkout has the demo, and the installed package has none. */
const HAS_DEMO = existsSync(join(import.meta.dirname, '../../examples/demo.ts'));

/** The example of the field table, as a partner without a platform sends it. */
const EXAMPLE = {
  applications: [
    Object.fromEntries(
      FIELDS.filter(({ name }) => name !== 'platform' && !NOTED_FIELDS.includes(name)).map(
        ({ name, example }) => [name, example],
      ),
    ),
  ],
};

/** The demo partner's key, and the data directory that keeps the key for `npm run demo`. */
export interface Demo {
  readonly apiKey: string;
  readonly dataDir: string;
}

/**
 * The URLs of the service; `simulatorUrl` is null without a simulator, `consoleUrl` without a console, `portalUrl`
 * without a portal.
 */
interface Urls {
  /** Where the store is. */
  readonly place: string;
  readonly url: string;
  readonly opsUrl: string;
  readonly simulatorUrl: string | null;
  readonly consoleUrl: string | null;
  readonly portalUrl: string | null;
}

/**
 * The URLs; what the operator has to know about the reader of documents; on the first start the demo partner's key with
 * commands to paste; and the link for the first admin, until somebody has used it to set the factors.
 */
export function welcome(
  { place, url, opsUrl, simulatorUrl, consoleUrl, portalUrl }: Urls,
  { demo, link, readerTold }: { demo: Demo | null; link: string | null; readerTold: string | null },
): string {
  const lines = [
    '',
    'Ventanilla is ready.',
    `  Partner API   ${url}/PRO   (sandbox: ${url}/DEV)`,
    `  Documentation ${url}/docs`,
    `  Health        ${opsUrl}/healthz   ${opsUrl}/readyz`,
  ];
  if (simulatorUrl !== null) lines.push(`  Phones        ${simulatorUrl}   (what applicants receive)`);
  if (consoleUrl !== null) lines.push(`  Console       ${consoleUrl}   (for operators)`);
  if (portalUrl !== null) lines.push(`  Portal        ${portalUrl}   (for people at partners)`);
  lines.push(`  Store         ${place}`, '');
  if (readerTold !== null) lines.push(`Note: ${readerTold}.`, '');
  if (link !== null) {
    lines.push(
      'No operator can sign in yet. Set the password of "admin" with this link, within 24 hours and before the next start:',
      `  ${link}`,
      '',
    );
  }
  if (demo !== null) {
    lines.push(
      'The store was empty, so there is a partner "Demo" now. Its key, shown only this once:',
      `  ${demo.apiKey}`,
      '',
      'Register an application:',
      `  curl -sS ${url}/PRO -H 'X-API-Key: ${demo.apiKey}' -H 'Content-Type: application/json' -d '${JSON.stringify(EXAMPLE)}'`,
      '',
    );
    if (HAS_DEMO) {
      lines.push(
        'Or, from another terminal, a batch of 100 as a table:',
        `  ${demoVariables(url, simulatorUrl, demo.dataDir)}npm run demo`,
        '',
      );
    }
    if (simulatorUrl !== null) {
      lines.push(
        'Then look at the phones of its applicants, and answer as one of them:',
        `  ${simulatorUrl}`,
        '',
      );
    }
  }
  return lines.join('\n');
}

/** The variables that `npm run demo` needs if its defaults do not fit, also with `--until signed`. */
function demoVariables(url: string, simulatorUrl: string | null, dataDir: string): string {
  const variables = [];
  if (url !== 'http://127.0.0.1:8080') variables.push(`VENTANILLA_URL=${url}/PRO `);
  if (simulatorUrl !== null && simulatorUrl !== 'http://127.0.0.1:8081/simulator')
    variables.push(`VENTANILLA_SIMULATOR_URL=${simulatorUrl} `);
  if (dataDir !== resolve('data')) variables.push(`DATA_DIR='${dataDir.replaceAll("'", "'\\''")}' `);
  return variables.join('');
}
