/** `ventanilla submit`: sends a file of applicants to a service, which may be anywhere. */
import type { Command, CommanderError } from 'commander';
import { DECIMALS } from '../bulk/map/amount.ts';
import { readConsentWords, TRUE_AND_FALSE } from '../bulk/map/consent.ts';
import { openSource, readMap, type SourceOptions } from '../bulk/map/source.ts';
import { BulkError } from '../bulk/read/bulk-error.ts';
import { ENCODINGS } from '../bulk/read/encoding.ts';
import { environmentUrl } from '../bulk/send/remote-service.ts';
import { type Country, isCountry } from '../domain/country-data.ts';
import type { Cli } from './command.ts';
import { type Io, unheard } from './output.ts';
import { showSource } from './submit-preview.ts';
import { send } from './submit-send.ts';
import { PROCESS, type Surroundings } from './submit-terminal.ts';

interface Options {
  url?: string;
  sandbox?: boolean;
  insecureHttp?: boolean;
  dryRun?: boolean;
  country?: string;
  map: string[];
  decimal?: string;
  consentValues?: string;
  encoding?: string;
  yes?: boolean;
  json?: boolean;
}

const HELP = `
FILE is CSV, JSON Lines, JSON (an array, or an object with "applications") or XLSX; its content decides.
The API key is read from the environment variable VENTANILLA_API_KEY.
FILE.ventanilla-journal remembers what was sent: the same command goes on after a stop.
FILE.rejected.csv gets the rows that were not taken, with the reasons.

Exit codes: 0 all registered, 1 error, 2 some rows were not taken, 3 stopped at the quota, 130 interrupted.`;

/** Gives the command its options and its work. `around` is the process, or what a test puts in its place. */
export function fillSubmit(command: Command, { io }: Pick<Cli, 'io'>, around: Surroundings = PROCESS): void {
  command
    .option('--url <url>', 'the base URL of the service, or the one that ends in /PRO')
    .option('--sandbox', 'send to /DEV, where nothing is stored')
    .option(
      '--insecure-http',
      'allow an http:// URL of another machine: everybody on the way can read what is sent',
    )
    .option('--dry-run', "check every row by the service's rules, and send nothing")
    .option('--country <code>', "your partner's country, for a dry run of phones without country code")
    .option('--map <field=column>', 'read a field from a column (may be repeated)', collect, [])
    .option('--decimal <sign>', `what parts decimals where an amount does not tell: ${DECIMALS.join(' or ')}`)
    .option('--consent-values <words>', 'words for consent and for none, beside true and false: sí,1/no,0')
    .option('--encoding <name>', `read the file as ${ENCODINGS.join(', ')}`)
    .option('--yes', 'send without asking')
    .addHelpText('after', HELP)
    // Who sends applicants is not stopped by a pipe into `head`, and exit code 0 means that all of them were.
    .action((path: string, options: Options) => submit(path, options, unheard(io), around));
  // 2 means rejected rows here, so a wrong option is an error like any other.
  command.configureOutput({ outputError: () => {} }).exitOverride((error: CommanderError) => {
    throw error.exitCode === 0 ? error : new Error(error.message.replace(/^error: /, ''));
  });
}

async function submit(path: string, options: Options, io: Io, around: Surroundings): Promise<void> {
  const country = readCountry(options.country);
  const sourceOptions = readSourceOptions(options);
  if (options.dryRun !== true && options.url === undefined) {
    throw new BulkError('--url is missing: the URL of the service, such as https://host/PRO');
  }
  const { json = false, yes = false, sandbox = false, insecureHttp = false } = options;
  // Before anything of the file is shown: an address that is refused is the first thing to know.
  const url = options.dryRun ? null : environmentUrl(options.url ?? '', { sandbox, insecureHttp });
  // With --json standard output is for programs alone.
  const textOutput: Io = options.json ? { stdout: io.stderr, stderr: io.stderr } : io;
  const source = await openSource(path, sourceOptions);
  await showSource(textOutput, source);
  if (url !== null) return send(source, { io, textOutput, around, json, yes, sandbox, url });
  // Not before it is needed: the rules of phones take longer to load than all the rest.
  const { dryRun } = await import('./submit-dry-run.ts');
  await dryRun(source, { io, textOutput, json, sandbox, country });
}

function readSourceOptions({ map, decimal, consentValues, encoding }: Options): SourceOptions {
  return {
    map: map.map(readMap),
    encoding: encoding === undefined ? null : oneOf('--encoding', encoding, ENCODINGS),
    conversion: {
      decimal: decimal === undefined ? null : oneOf('--decimal', decimal, DECIMALS),
      consent: consentValues === undefined ? TRUE_AND_FALSE : readConsentWords(consentValues),
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

function collect(value: string, before: string[]): string[] {
  return [...before, value];
}
