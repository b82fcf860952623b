/** `ventanilla submit`: sends a file of applicants to a service anywhere. */
import type { Command, CommanderError } from 'commander';
import { type Country, isCountry } from '../../../ground/base/country-data.ts';
import type { Language } from '../../../ground/base/language.ts';
import { ToldError } from '../../../ground/base/told-error.ts';
import { type Cli, HINT } from '../../../program/cli/command.ts';
import { type Io, unheard } from '../../../program/cli/output.ts';
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
import { addOptions, helpAfter, helpIn, wrongUseInSpanish } from './submit-help.ts';
import { languageOf } from './submit-language.ts';
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
  ignore?: string[];
  decimal?: string;
  consentValues?: string;
  encoding?: string;
  headerRow?: number;
  sheet?: string;
  visibleOnly?: boolean;
  results?: string;
  yes?: boolean;
  lang?: string;
  json?: boolean;
}

/** Gives the command its options and its work. `around` is the process, except in tests. */
export function fillSubmit(
  command: Command,
  { io, clock }: Pick<Cli, 'io' | 'clock'>,
  around: Surroundings = PROCESS,
): void {
  addOptions(command);
  const language = () => languageOf(command.opts<Options>().lang, around);
  command
    .configureHelp(helpIn(language))
    .addHelpText('after', () => helpAfter(command, language()))
    // A pipe into `head` must not stop the submission: exit code 0 means that all applicants were sent.
    .action((path: string, options: Options) => {
      const chosen = language();
      return telling(chosen, submit(path, options, { io: unheard(io), clock, around, language: chosen }));
    });
  // Exit code 2 means rejected rows here, so wrong use ends with 1 like any other error, and is told like one.
  command.configureOutput({ outputError: () => {} }).showHelpAfterError(false);
  command.exitOverride((error: CommanderError) => {
    if (error.exitCode === 0) throw error;
    const text = error.message.replace(/^error: /, '');
    const words = {
      en: `${text} ${HINT}`,
      es: `${wrongUseInSpanish(text)} (agrega --help para ver cómo se usa)`,
    };
    throw new ToldError(words[languageOf(undefined, around)]);
  });
}

/** Resolves as `work` does. What a person can mend is told in the language. */
async function telling(language: Language, work: Promise<void>): Promise<void> {
  try {
    await tellingOfService(work, language);
  } catch (error) {
    throw error instanceof BulkError ? new ToldError(error.words[language], { cause: error }) : error;
  }
}

async function submit(
  path: string,
  options: Options,
  { io, clock, around, language }: Pick<SendCommand, 'io' | 'clock' | 'around' | 'language'>,
): Promise<void> {
  const sourceOptions = readSourceOptions(options, language);
  if (options.dryRun !== true && options.url === undefined) {
    throw new BulkError({
      en: '--url is missing: add the URL of the service, such as https://host/PRO',
      es: 'falta --url: agrega la URL del servicio, por ejemplo https://host/PRO',
    });
  }
  if (options.dryRun === true && options.results !== undefined) {
    throw new BulkError({
      en: '--results holds answers of the service, and a dry run has none: leave it out',
      es: '--results guarda las respuestas del servicio, y con --dry-run no hay: quítalo',
    });
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
    return send(source, {
      io,
      textOutput,
      around,
      clock,
      json,
      yes,
      sandbox,
      ...target,
      resultsPath,
      language,
    });
  }
  // Loaded here, because the rules of phones take longer to load than all the rest.
  const { dryRun } = await import('./submit-dry-run.ts');
  await dryRun(source, { io, textOutput, clock, json, sandbox, isTerminal: around.isTerminal });
}

function readSourceOptions(
  {
    map = [],
    ignore = [],
    decimal,
    consentValues,
    encoding,
    headerRow,
    sheet,
    visibleOnly,
    country,
  }: Options,
  language: Language,
): SourceOptions {
  return {
    map: map.filter((text) => !isValueMap(text)).map(readMap),
    ignore,
    language,
    encoding: encoding === undefined ? null : oneOf('--encoding', encoding, ENCODINGS),
    headerRow: headerRow ?? null,
    sheet: sheet ?? null,
    visibleOnly: visibleOnly === true,
    conversion: {
      decimal: decimal === undefined ? null : oneOf('--decimal', decimal, DECIMALS),
      consent: consentValues === undefined ? TRUE_AND_FALSE : readConsentWords(consentValues),
      values: readValueMaps(map.filter(isValueMap)),
      country: readCountry(country),
    },
  };
}

function readCountry(text: string | undefined): Country | null {
  if (text === undefined) return null;
  const code = text.trim().toUpperCase();
  if (!isCountry(code))
    throw new BulkError({
      en: '--country must be the two letters of a country, such as CO',
      es: '--country debe tener las dos letras de un país, por ejemplo CO',
    });
  return code;
}

function oneOf<T extends string>(option: string, text: string, values: readonly T[]): T {
  const value = values.find((candidate) => candidate.toLowerCase() === text.trim().toLowerCase());
  if (value === undefined)
    throw new BulkError({
      en: `${option} must be one of: ${values.join(', ')}`,
      es: `${option} debe ser uno de: ${values.join(', ')}`,
    });
  return value;
}
