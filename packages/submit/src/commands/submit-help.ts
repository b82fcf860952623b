/** The command line of `ventanilla submit` in two languages: its options, its help, and what is said of a wrong use. */
import type { Command, HelpConfiguration } from 'commander';
import { LANGUAGES, type Language, type Words } from '../../../../src/ground/base/language.ts';
import { readPositive } from '../../../../src/program/cli/command.ts';
import { DECIMALS } from '../map/amount.ts';
import { ENCODINGS } from '../read/encoding/encoding.ts';

const HELP: Words = {
  en: `
FILE is CSV, JSON Lines, JSON (an array, or an object with "applications") or XLSX. The content decides, not the name.
Put the API key into the environment variable VENTANILLA_API_KEY, or the path of a file with the key into
VENTANILLA_API_KEY_FILE.
FILE.ventanilla-journal remembers what was sent: after a stop, run the same command again to go on.
FILE.rejected.csv gets the rows that were not taken, with the reasons. With --results every row gets a line, also after
a stop; the ID numbers in the results are personal data.

Exit codes: 0 all registered, 1 error, 2 some rows were not taken, 3 stopped at the quota, 70 a fault of
this program (--debug shows its stack), 130 interrupted.`,
  es: `
El archivo es CSV, JSON Lines, JSON (un arreglo, o un objeto con "aplicaciones") o XLSX. Decide el contenido, no el
nombre. Pon la API key en la variable de entorno VENTANILLA_API_KEY, o la ruta de un archivo con la API key en
VENTANILLA_API_KEY_FILE.
ARCHIVO.ventanilla-journal recuerda lo que se envió: si se detiene, ejecuta de nuevo el mismo comando para seguir.
ARCHIVO.rejected.csv recibe las filas que no se aceptaron, con los motivos. Con --results cada fila tiene una línea,
también si se detuvo; los números de identificación de los resultados son datos personales.

Códigos de salida: 0 todas registradas, 1 error, 2 algunas filas no se aceptaron, 3 detenido por la cuota, 70 un fallo
de este programa (--debug muestra su traza), 130 interrumpido.`,
};

/** The options of the command, each with what it is about in English and in Spanish. */
const OPTIONS: readonly (readonly [flags: string, en: string, es: string, kind?: 'list' | 'number'])[] = [
  ['--url <url>',
    'the base URL of the service, or the one that ends in /PRO',
    'la URL base del servicio, o la que termina en /PRO'],
  ['--sandbox', 'send to /DEV, where nothing is stored', 'envía a /DEV, donde no se guarda nada'],
  ['--insecure-http',
    'allow an http:// URL of another machine: everybody on the way can read the key and the applicants',
    'permite una URL http:// de otro equipo: cualquiera en el camino puede leer la API key y los solicitantes'],
  ['--dry-run',
    "check every row by the service's rules, and send nothing",
    'revisa cada fila con las reglas del servicio, y no envía nada'],
  ['--country <code>',
    "your partner's country, where phones without country code are read; only a dry run needs it",
    'el país de tu plataforma, donde se leen los teléfonos sin código de país; solo lo necesita --dry-run'],
  ['--map <field=column>',
    'read a field from a column, or a word as a value: "debt_age:Más de 2 años=gt2" (may be repeated)',
    'lee un campo de una columna, o una palabra como un valor: "debt_age:Más de 2 años=gt2" (se puede repetir)', 'list'],
  ['--ignore <column>',
    'leave a column out that looks like a field (may be repeated)',
    'deja fuera una columna que parece un campo (se puede repetir)', 'list'],
  ['--decimal <sign>',
    `the decimal sign of ambiguous amounts such as 1.500: ${DECIMALS.join(' or ')}`,
    `el signo decimal de montos ambiguos como 1.500: ${DECIMALS.join(' o ')} (coma o punto)`],
  ['--consent-values <words>',
    'more words for consent and for none, besides true, false, verdadero and falso: sí,1/no,0',
    'más palabras que dan el consentimiento y que no, además de true, false, verdadero y falso: sí,1/no,0'],
  ['--header-row <n>',
    "the row with the columns' names (default: guessed)",
    'la fila con los nombres de las columnas (si falta, se busca)', 'number'],
  ['--sheet <name>',
    'the sheet of an XLSX file, by name or number (default: found by its columns)',
    'la hoja de un archivo XLSX, por nombre o número (si falta, se busca por sus columnas)'],
  ['--visible-only',
    'leave out rows that a filter or a person has hidden in an XLSX file',
    'deja fuera las filas que un filtro o una persona ocultó en un archivo XLSX'],
  ['--encoding <name>', `read the file as ${ENCODINGS.join(', ')}`, `lee el archivo como ${ENCODINGS.join(', ')}`],
  ['--results <file>',
    'write a CSV line for each row: id, score, decision and status',
    'escribe una línea CSV por fila: id, puntaje, decisión y estado'],
  ['--yes', 'send without asking', 'envía sin preguntar'],
  ['--lang <language>',
    `the language of this command: ${LANGUAGES.join(' or ')} (default: by LC_ALL or LANG)`,
    `el idioma de este comando: ${LANGUAGES.join(' o ')} (si falta, por LC_ALL o LANG)`],
]; // biome-ignore format: one table

/** The texts of the help in Spanish. */
const HELP_WORDS: Readonly<Record<string, string>> = {
  'Usage:': 'Uso:',
  'Arguments:': 'Argumentos:',
  'Options:': 'Opciones:',
  '[options]': '[opciones]',
  '<file>': '<archivo>',
  file: 'archivo',
  'send a file of applicants to a service': 'envía un archivo de solicitantes a un servicio',
  'the file of applicants': 'el archivo de solicitantes',
  'write one JSON value, for programs': 'escribe un valor JSON, para programas',
  'display help for command': 'muestra esta ayuda',
  'output the version number': 'muestra la versión',
  ...Object.fromEntries(OPTIONS.map(([, en, es]) => [en, es])),
};

/** The hooks of the help that write its texts in a language. */
export function helpIn(language: () => Language): HelpConfiguration {
  const say = (text: string) => (language() === 'es' ? (HELP_WORDS[text] ?? text) : text);
  return {
    styleTitle: say,
    styleUsage: (usage) => usage.split(' ').map(say).join(' '),
    styleCommandDescription: say,
    styleArgumentTerm: say,
    styleArgumentDescription: say,
    styleOptionDescription: say,
  };
}

/** What the help has below the options. */
export function helpAfter(command: Command, language: Language): string {
  const name = command.parent === null ? command.name() : `npx ventanilla ${command.name()}`;
  const example: Words = {
    en: `\nExample:\n  ${name} applicants.csv --url https://host/PRO`,
    es: `\nEjemplo:\n  ${name} solicitantes.csv --url https://host/PRO`,
  };
  return `${example[language]}\n${HELP[language]}`;
}

/** Gives the command its options, in English; `helpIn` shows them in another language. */
export function addOptions(command: Command): void {
  for (const [flags, en, , kind] of OPTIONS) {
    const option = command.createOption(flags, en);
    if (kind === 'list') option.argParser(collect);
    if (kind === 'number') option.argParser(readPositive);
    command.addOption(option);
  }
}

function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/** What commander says of a wrong command line. */
const WRONG_USE: readonly (readonly [english: RegExp, spanish: string])[] = [
  [/^unknown option ('.*')/, 'opción desconocida $1'],
  [/\(Did you mean (.*)\?\)/, '(¿Quisiste decir $1?)'],
  [/^missing required argument 'file'/, 'falta el archivo de solicitantes'],
  [/^option ('.*') argument missing/, 'falta el valor de la opción $1'],
  [/^too many arguments.*/, 'hay demasiados argumentos: indica un solo archivo'],
  [/^option ('.*') argument ('.*') is invalid\. (.*)/, 'el valor $2 de la opción $1 no es válido. $3'],
  [/It must be a whole number from 1 on\./, 'Debe ser un número entero desde 1.'],
  [/The number is too large\./, 'El número es demasiado grande.'],
];

/** The text of a wrong command line in Spanish. */
export function wrongUseInSpanish(message: string): string {
  return WRONG_USE.reduce((text, [english, spanish]) => text.replace(english, spanish), message);
}
