/** `ventanilla submit`: sends a file of applicants to a service anywhere. */
import { readFileSync, statSync } from 'node:fs';
import type { Command, CommanderError } from 'commander';
import { type Country, isCountry } from '../../../../src/ground/base/country-data.ts';
import { errorCode } from '../../../../src/ground/base/describe-error.ts';
import { LANGUAGES, type Language, type Words } from '../../../../src/ground/base/language.ts';
import { inLine } from '../../../../src/ground/base/plain-text.ts';
import { isOpenToOthers, OPEN_TO_OTHERS } from '../../../../src/ground/base/private-file.ts';
import { ToldError } from '../../../../src/ground/base/told-error.ts';
import { type Cli, HINT } from '../../../../src/program/cli/command.ts';
import { type Io, recordOf, unheard, writeOutput } from '../../../../src/program/cli/output.ts';
import { DECIMALS } from '../map/amount.ts';
import { readConsentWords, TRUE_AND_FALSE } from '../map/consent.ts';
import { openSource, readMap, type Source, type SourceOptions } from '../map/source.ts';
import { isValueMap, readValueMaps } from '../map/words.ts';
import { BulkError } from '../read/bulk-error.ts';
import { type CodePage, ENCODINGS } from '../read/encoding/encoding.ts';
import { DoubtfulEncoding } from '../read/encoding/encoding-survey.ts';
import { environmentUrl, tellingOfService } from '../send/remote-service.ts';
import { nodeFile } from './node-file.ts';
import { addOptions, helpAfter, helpIn, wrongUseInSpanish } from './submit-help.ts';
import { showSource } from './submit-preview.ts';
import { type SendCommand, send } from './submit-send.ts';
import { PROCESS, type Surroundings } from './submit-terminal.ts';

// The API key that `submit` sends with.

const OF_FILE: Words = {
  en: 'the file of VENTANILLA_API_KEY_FILE',
  es: 'el archivo de VENTANILLA_API_KEY_FILE',
};
const VARIABLE: Words = { en: 'VENTANILLA_API_KEY', es: 'VENTANILLA_API_KEY' };

/**
 * The API key of the environment, or of the file that VENTANILLA_API_KEY_FILE names. Throws `BulkError` where there is
 * none; no text shows the path, because somebody may put the key itself there by mistake.
 */
export function readKey({ env }: Surroundings): string {
  const path = env.VENTANILLA_API_KEY_FILE?.trim();
  const given = env.VENTANILLA_API_KEY?.trim();
  if (path && given)
    throw new BulkError({
      en: 'VENTANILLA_API_KEY and VENTANILLA_API_KEY_FILE are both set: set one of them',
      es: 'VENTANILLA_API_KEY y VENTANILLA_API_KEY_FILE están definidas las dos: define una sola',
    });
  const [name, key] = path ? [OF_FILE, readKeyFile(path)] : [VARIABLE, given];
  if (!key)
    throw new BulkError(
      path
        ? {
            en: `${name.en} is empty: write the API key into it`,
            es: `${name.es} está vacío: escribe en él la API key`,
          }
        : {
            en: 'VENTANILLA_API_KEY is not set: put the API key into that environment variable',
            es: 'VENTANILLA_API_KEY no está definida: pon la API key en esa variable de entorno',
          },
    );
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new BulkError({
      en: `${name.en} must be the API key as it was issued, without spaces`,
      es: `${name.es} debe ser la API key tal como se entregó, sin espacios`,
    });
  return key;
}

function readKeyFile(path: string): string {
  try {
    const key = readFileSync(path, 'utf8').trim();
    if (!isOpenToOthers(statSync(path))) return key;
    throw new BulkError({
      en: `VENTANILLA_API_KEY_FILE names a file that ${OPEN_TO_OTHERS}`,
      es: 'VENTANILLA_API_KEY_FILE indica un archivo que otros usuarios pueden leer o cambiar: quítales el permiso (chmod 600)',
    });
  } catch (error) {
    if (error instanceof BulkError) throw error;
    throw new BulkError({
      en: `VENTANILLA_API_KEY_FILE names a file that cannot be read (${errorCode(error)})`,
      es: `VENTANILLA_API_KEY_FILE indica un archivo que no se puede leer (${errorCode(error)})`,
    });
  }
}

// Opens a file of applicants; where its encoding is doubtful, a person on a terminal chooses by its names.

/** The words come from rows, so they are shown on a terminal alone. Throws `BulkError`. */
async function openAsking(
  path: string,
  options: SourceOptions<Language>,
  { io, around, yes }: { readonly io: Io; readonly around: Surroundings; readonly yes: boolean },
): Promise<Source<Language>> {
  const file = await nodeFile(path);
  try {
    return await openSource(file, options);
  } catch (error) {
    if (!(error instanceof DoubtfulEncoding) || !around.isTerminal || yes) throw error;
    const encoding = await chosenPage(error, options.language, io, around);
    return openSource(file, { ...options, encoding });
  }
}

const TITLES = { en: ['ENCODING', 'NAMES'], es: ['CODIFICACIÓN', 'NOMBRES'] } as const;
const QUESTION: Words = { en: 'Which one reads right?', es: '¿Cuál se lee bien?' };

async function chosenPage(
  doubt: DoubtfulEncoding,
  language: Language,
  io: Io,
  around: Surroundings,
): Promise<CodePage> {
  await writeOutput(io, `${doubt.words[language]}\n\n`);
  const readings = doubt.readings.map(
    ({ page, words }) => [page, words.map((word) => inLine(word)).join(', ')] as const,
  );
  await writeOutput(io, `${recordOf([TITLES[language], ...readings])}\n\n`);
  const pages = doubt.readings.map(({ page }) => page);
  const answer = (await around.ask(`${QUESTION[language]} (${pages.join(', ')}) `)).trim().toLowerCase();
  const page = pages.find((one) => one.toLowerCase() === answer);
  if (page === undefined) throw doubt;
  return page;
}

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
): SourceOptions<Language> {
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

// The language in which `ventanilla submit` speaks.

/**
 * The language that `--lang` chooses; else that of the environment, as programs read it (POSIX: LC_ALL, LC_MESSAGES,
 * LANG), or of the system where it has none of these variables. English where it is neither. Throws `ToldError`.
 */
function languageOf(chosen: string | undefined, around: Surroundings): Language {
  const { LC_ALL, LC_MESSAGES, LANG } = around.env;
  const told = LC_ALL || LC_MESSAGES || LANG || around.locale();
  const usual = /^es(?![a-z])/i.test(told) ? 'es' : 'en';
  if (chosen === undefined) return usual;
  const found = LANGUAGES.find((language) => language === chosen.trim().toLowerCase());
  if (found !== undefined) return found;
  const all = LANGUAGES.join(', ');
  throw new ToldError({ en: `--lang must be one of: ${all}`, es: `--lang debe ser uno de: ${all}` }[usual]);
}
