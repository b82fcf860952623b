/** `ventanilla submit`: sends a file of applicants to a service anywhere. */
import type { Command, CommanderError } from 'commander';
import { type Country, isCountry } from '../../base/country-data.ts';
import { type Cli, HINT, readPositive } from '../../cli/command.ts';
import { type Io, unheard } from '../../cli/output.ts';
import { DECIMALS } from '../map/amount.ts';
import { readConsentWords, TRUE_AND_FALSE } from '../map/consent.ts';
import { readMap, type SourceOptions } from '../map/source.ts';
import { isValueMap, readValueMaps } from '../map/values.ts';
import { BulkError } from '../read/bulk-error.ts';
import { ENCODINGS } from '../read/encoding/encoding.ts';
import { environmentUrl } from '../send/remote-service.ts';
import { tellingOfService } from '../send/service-error.ts';
import { readKey } from './api-key.ts';
import type { SendCommand } from './submit-ask.ts';
import { openAsking } from './submit-encoding.ts';
import { showSource } from './submit-preview.ts';
import { send } from './submit-send.ts';
import { PROCESS, type Surroundings } from './submit-terminal.ts';

interface Options {
  url?: string;
  sandbox?: boolean;
  insecureHttp?: boolean;
  dryRun?: boolean;
  country?: string;
  map?: string[];
  decimal?: string;
  consentValues?: string;
  encoding?: string;
  headerRow?: number;
  sheet?: string;
  visibleOnly?: boolean;
  results?: string;
  yes?: boolean;
  json?: boolean;
}

const HELP = `
FILE is CSV, JSON Lines, JSON (an array, or an object with "applications") or XLSX. The content decides, not the name.
Put the API key into the environment variable VENTANILLA_API_KEY, or the path of a file with the key into
VENTANILLA_API_KEY_FILE.
FILE.ventanilla-journal remembers what was sent: after a stop, run the same command again to go on.
FILE.rejected.csv gets the rows that were not taken, with the reasons. With --results every row gets a line, also after
a stop; the ID numbers in the results are personal data.

Exit codes: 0 all registered, 1 error, 2 some rows were not taken, 3 stopped at the quota, 70 a fault of
this program (--debug shows its stack), 130 interrupted.`;

/** Gives the command its options and its work. `around` is the process, except in tests. */
export function fillSubmit(
  command: Command,
  { io, clock }: Pick<Cli, 'io' | 'clock'>,
  around: Surroundings = PROCESS,
): void {
  command
    .option('--url <url>', 'the base URL of the service, or the one that ends in /PRO')
    .option('--sandbox', 'send to /DEV, where nothing is stored')
    .option(
      '--insecure-http',
      'allow an http:// URL of another machine: everybody on the way can read the key and the applicants',
    )
    .option('--dry-run', "check every row by the service's rules, and send nothing")
    .option('--country <code>', "your partner's country, for a dry run of phones without country code")
    .option(
      '--map <field=column>',
      'read a field from a column, or a word as a value: "debt_age:Más de 2 años=gt2" (may be repeated)',
      collect,
    )
    .option(
      '--decimal <sign>',
      `the decimal sign of ambiguous amounts such as 1.500: ${DECIMALS.join(' or ')}`,
    )
    .option(
      '--consent-values <words>',
      'more words for consent and for none, besides true, false, verdadero and falso: sí,1/no,0',
    )
    .option('--header-row <n>', "the row with the columns' names (default: guessed)", readPositive)
    .option('--sheet <name>', 'the sheet of an XLSX file, by name or number (default: found by its columns)')
    .option('--visible-only', 'leave out rows that a filter or a person has hidden in an XLSX file')
    .option('--encoding <name>', `read the file as ${ENCODINGS.join(', ')}`)
    .option('--results <file>', 'write a CSV line for each row: id, score, decision and status')
    .option('--yes', 'send without asking')
    .addHelpText('after', HELP)
    // A pipe into `head` must not stop the submission: exit code 0 means that all applicants were sent.
    .action((path: string, options: Options) =>
      tellingOfService(submit(path, options, { io: unheard(io), clock, around })),
    );
  // Exit code 2 means rejected rows here, so wrong use ends with 1 like any other error, and is told like one.
  command.configureOutput({ outputError: () => {} }).showHelpAfterError(false);
  command.exitOverride((error: CommanderError) => {
    if (error.exitCode === 0) throw error;
    throw new BulkError(`${error.message.replace(/^error: /, '')} ${HINT}`);
  });
}

async function submit(
  path: string,
  options: Options,
  { io, clock, around }: Pick<SendCommand, 'io' | 'clock' | 'around'>,
): Promise<void> {
  const country = readCountry(options.country);
  const sourceOptions = readSourceOptions(options);
  if (options.dryRun !== true && options.url === undefined) {
    throw new BulkError('--url is missing: add the URL of the service, such as https://host/PRO');
  }
  if (options.dryRun === true && options.results !== undefined) {
    throw new BulkError('--results holds answers of the service, and a dry run has none: leave it out');
  }
  const {
    json = false,
    yes = false,
    sandbox = false,
    insecureHttp = false,
    results: resultsPath = null,
  } = options;
  // URL and key are checked first, so that their errors come before the preview of the file.
  const target = options.dryRun
    ? null
    : { url: environmentUrl(options.url ?? '', { sandbox, insecureHttp }), apiKey: readKey(around) };
  // With --json, programs alone read standard output.
  const textOutput: Io = options.json ? { stdout: io.stderr, stderr: io.stderr } : io;
  const source = await openAsking(path, sourceOptions, { io: textOutput, around, yes });
  await showSource(textOutput, source);
  if (target !== null) {
    return send(source, { io, textOutput, around, clock, json, yes, sandbox, ...target, resultsPath });
  }
  // Loaded here, because the rules of phones take longer to load than all the rest.
  const { dryRun } = await import('./submit-dry-run.ts');
  await dryRun(source, { io, textOutput, clock, json, sandbox, country });
}

function readSourceOptions({
  map = [],
  decimal,
  consentValues,
  encoding,
  headerRow,
  sheet,
  visibleOnly,
}: Options): SourceOptions {
  return {
    map: map.filter((text) => !isValueMap(text)).map(readMap),
    encoding: encoding === undefined ? null : oneOf('--encoding', encoding, ENCODINGS),
    headerRow: headerRow ?? null,
    sheet: sheet ?? null,
    visibleOnly: visibleOnly === true,
    conversion: {
      decimal: decimal === undefined ? null : oneOf('--decimal', decimal, DECIMALS),
      consent: consentValues === undefined ? TRUE_AND_FALSE : readConsentWords(consentValues),
      values: readValueMaps(map.filter(isValueMap)),
    },
  };
}

function readCountry(text: string | undefined): Country | null {
  if (text === undefined) return null;
  const code = text.trim().toUpperCase();
  if (!isCountry(code)) throw new BulkError('--country must be the two letters of a country, such as CO');
  return code;
}

function oneOf<T extends string>(option: string, text: string, values: readonly T[]): T {
  const value = values.find((candidate) => candidate.toLowerCase() === text.trim().toLowerCase());
  if (value === undefined) throw new BulkError(`${option} must be one of: ${values.join(', ')}`);
  return value;
}

function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}
