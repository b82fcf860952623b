/** The preview that `ventanilla submit` shows before it sends anything. */
import type { Country } from '../../../../src/ground/base/country-data.ts';
import type { Language, Words } from '../../../../src/ground/base/language.ts';
import { inLine } from '../../../../src/ground/base/plain-text.ts';
import { type Io, recordOf, writeOutput } from '../../../../src/program/cli/output.ts';
import type { Check, PhonesOfAKind, ReadPhone } from '../map/check.ts';
import type { Change } from '../map/convert.ts';
import type { Source } from '../map/source.ts';
import type { UnsentColumn } from '../map/unsent.ts';
import { optionsFor, type UnknownWord, WORD_FIELDS } from '../map/words.ts';
import { BulkError } from '../read/bulk-error.ts';
import { isEmpty } from '../read/table.ts';
import { count, rowsOf } from './submit-terminal.ts';

/** The preview cuts longer values off. */
const SHOWN_CHARACTERS = 40;

const TITLES = { en: ['FIELD', 'COLUMN'], es: ['CAMPO', 'COLUMNA'] } as const;
const ELSE: Words = { en: ', else ', es: '; si no, ' };
const NOT_SENT: Words = { en: 'Not sent', es: 'No se envían' };

/** Shows how the file was read and which column is which field. Shows no value of a row. */
export async function showSource(
  io: Io,
  { file, mapping, table, notes, language }: Source<Language>,
): Promise<void> {
  const encoding = file.encoding === null ? '' : `, ${file.encoding}`;
  await writeOutput(io, `${inLine(file.file)}: ${file.format}${encoding}\n`);
  for (const note of notes) await writeOutput(io, `  ${inLine(note)}\n`);
  await writeOutput(io, '\n');
  const fields = mapping.fields.map(({ field, columns }) => {
    const names = columns.map((column) => plain(table.columns[column] ?? ''));
    return [field.name, names.join(ELSE[language])] as const;
  });
  await writeOutput(io, `${recordOf([TITLES[language], ...fields])}\n`);
  const unused = mapping.unused.map((column) => plain(table.columns[column] ?? '')).filter(Boolean);
  if (unused.length > 0) await writeOutput(io, `\n${NOT_SENT[language]}: ${unused.join(', ')}\n`);
}

/** What was changed in a cell, in Spanish. */
const CHANGES: Readonly<Record<Change, string>> = {
  'decimal comma': 'coma decimal',
  'number written as text': 'número escrito como texto',
  'text that the format shows': 'texto que muestra el formato',
  'currency beside the amount': 'moneda junto al monto',
  'code of the currency': 'código de la moneda',
  'text of a formula': 'texto de una fórmula',
  'word for consent': 'palabra del consentimiento',
  'word of --map': 'palabra de --map',
  'decimals of zero left out': 'decimales en cero quitados',
  'exponent written out': 'exponente escrito completo',
  'thousands separators': 'separadores de miles',
  'apostrophe or invisible characters left out': 'apóstrofo o caracteres invisibles quitados',
};

/** Shows how many cells are converted, and how many rows the spreadsheet does not show. */
export async function showChanges(io: Io, { changes, hidden }: Check, language: Language): Promise<void> {
  if (hidden !== null) {
    const [rows, first] = [rowsOf(hidden.count, language), count(hidden.firstRow, language)];
    const text: Words = {
      en: `Hidden in the sheet, and not left out: ${rows}, the first is row ${first}. --visible-only leaves hidden rows out.`,
      es: `Ocultas en la hoja, y se envían también: ${rows}; la primera es la fila ${first}. --visible-only quita las filas ocultas.`,
    };
    await writeOutput(io, `${text[language]}\n`);
  }
  for (const [field, counts] of changes) {
    for (const [change, cells] of counts) {
      const number = count(cells, language);
      const text: Words = {
        en: `${number} converted (${change})`,
        es: `${number} ${cells === 1 ? 'convertido' : 'convertidos'} (${CHANGES[change]})`,
      };
      await writeOutput(io, `${field}: ${text[language]}\n`);
    }
  }
}

const ROW: Words = { en: 'Row', es: 'Fila' };
const IN_FILE: Words = { en: 'in the file', es: 'en el archivo' };

/** Shows the first rows as they will be sent, with the file's text beside each converted value. For terminals only. */
export async function showSample(
  io: Io,
  { mapping, language }: Source<Language>,
  sample: Check['sample'],
): Promise<void> {
  for (const { converted, judgement } of sample) {
    const { row, application } = converted;
    await writeOutput(io, `\n${ROW[language]} ${row.number}\n`);
    for (const { field, columns } of mapping.fields) {
      const sent = application[field.name];
      if (sent === undefined) continue;
      const typed = columns.map((column) => row.cells[column]).find((cell) => !isEmpty(cell));
      const isSame = String(typed).trim() === String(sent).trim();
      const from = isSame ? '' : `   (${IN_FILE[language]}: ${plain(String(typed))})`;
      const phone = field.name === 'phone' ? (judgement?.application?.phone ?? null) : null;
      const to = phone === null ? '' : `   → ${phone}, ${nameOf(judgement?.country ?? null, language)}`;
      await writeOutput(io, `  ${field.name.padEnd(16)} ${plain(JSON.stringify(sent))}${to}${from}\n`);
    }
  }
  await writeOutput(io, '\n');
}

/**
 * Shows the countries of the phones, as the service reads them. The numbers themselves are shown on a terminal alone:
 * those that say no country, and those whose country has another currency than the amounts of their row.
 */
export async function showPhones(
  io: Io,
  { phones }: Check,
  source: Source<Language>,
  isTerminal: boolean,
): Promise<void> {
  const { language, country } = source;
  if (phones.byCountry.size + phones.refused.count === 0) return;
  const countries = Array.from(
    phones.byCountry,
    ([one, number]) => `${count(number, language)} ${nameOf(one, language)}`,
  );
  const without: Words = { en: 'without a phone', es: 'sin teléfono' };
  if (phones.without > 0) countries.push(`${count(phones.without, language)} ${without[language]}`);
  const title: Words = { en: 'Phones', es: 'Teléfonos' };
  await writeOutput(io, `\n${title[language]}: ${countries.join(', ')}\n`);
  const home = nameOf(country, language);
  const local: Words = {
    en: `without country code, read for a partner of ${home}`,
    es: `sin código de país, leídos para una plataforma de ${home}`,
  };
  const other: Words = {
    en: 'whose country has another currency than the amounts of the row',
    es: 'cuyo país tiene otra moneda que los montos de la fila',
  };
  for (const [kind, what] of [
    [phones.local, local],
    [phones.otherCurrency, other],
  ] as const) {
    if (kind.count === 0) continue;
    const end = isTerminal ? ':' : '';
    await writeOutput(io, `  ${count(kind.count, language)} ${what[language]}${end}\n`);
    if (isTerminal) await showExamples(io, kind, language);
  }
  if (phones.refused.count > 0) await showRefused(io, phones.refused, language, isTerminal);
}

/** The phones that the service refuses, with the numbers that they could be. */
async function showRefused(
  io: Io,
  { count: all, first }: Check['phones']['refused'],
  language: Language,
  isTerminal: boolean,
): Promise<void> {
  const text: Words = {
    en: 'that the service refuses: write the country code',
    es: 'que el servicio rechaza: escribe el código de país',
  };
  await writeOutput(io, `  ${count(all, language)} ${text[language]}${isTerminal ? ':' : ''}\n`);
  if (!isTerminal) return;
  const or: Words = { en: ' or ', es: ' o ' };
  for (const { row, typed, couldBe } of first) {
    const numbers = couldBe.map(({ phone, country }) => `${phone}, ${nameOf(country, language)}`);
    const guess = numbers.length === 0 ? '' : ` → ${numbers.join(or[language])}?`;
    await writeOutput(io, `    ${ROW[language].toLowerCase()} ${row}: ${plain(typed)}${guess}\n`);
  }
  if (all > first.length) await writeOutput(io, '    …\n');
}

async function showExamples(io: Io, { count: all, first }: PhonesOfAKind, language: Language): Promise<void> {
  for (const read of first) await writeOutput(io, `    ${exampleOf(read, language)}\n`);
  if (all > first.length) await writeOutput(io, '    …\n');
}

function exampleOf({ row, typed, phone, country, currency }: ReadPhone, language: Language): string {
  const place = `${ROW[language].toLowerCase()} ${row}`;
  return `${place}: ${plain(typed)} → ${phone}, ${nameOf(country, language)}, ${currency}`;
}

/** `Colombia (CO)`. */
function nameOf(country: Country | null, language: Language): string {
  const none: Words = { en: 'no country', es: 'ningún país' };
  if (country === null) return none[language];
  const name = new Intl.DisplayNames([language], { type: 'region' }).of(country);
  return `${name} (${country})`;
}

/** The text, cut to fit into a line. */
export function plain(text: string): string {
  const isLong = text.length > SHOWN_CHARACTERS;
  // The cut must not split a surrogate pair.
  const cut = text.slice(0, SHOWN_CHARACTERS).replace(/[\ud800-\udbff]$/, '');
  return inLine(isLong ? `${cut}…` : text);
}

// What `ventanilla submit` says of words and columns that it does not understand, with options to copy and paste.

type FieldName = (typeof WORD_FIELDS)[number]['name'];

/** Shows the words that have no value, the options that would give them one, and the values of their fields. */
export async function showWords(io: Io, { words }: Check, language: Language): Promise<void> {
  const fields = words.all;
  if (fields.length === 0) return;
  const title: Words = { en: 'Words without a known value', es: 'Palabras sin un valor conocido' };
  await writeOutput(io, `\n${title[language]}:\n`);
  for (const [field, found] of fields) await writeOutput(io, `  ${field}: ${listOf(found, language)}\n`);
  const options = fields.flatMap(([field, found]) => (found === null ? [] : optionsFor(field, found)));
  const copy: Words = {
    en: 'To give them a value, add these options. Check each value first:',
    es: 'Para darles un valor, agrega estas opciones. Revisa antes cada valor:',
  };
  if (options.length > 0) await writeOutput(io, `\n${copy[language]}\n${linesOf(options)}`);
  const values: Words = { en: 'The values', es: 'Los valores' };
  await writeOutput(io, `\n${values[language]}:\n${fields.map(([field]) => valuesOf(field)).join('')}`);
}

function listOf(found: readonly UnknownWord[] | null, language: Language): string {
  const other: Words = {
    en: 'many different values, or values of a person: is it the right column?',
    es: 'muchos valores distintos, o datos de una persona: ¿es la columna correcta?',
  };
  if (found === null) return other[language];
  return found.map(({ word, rows }) => `"${plain(word)}" (${rowsOf(rows, language)})`).join(', ');
}

function valuesOf(field: FieldName): string {
  return `  ${field}: ${WORD_FIELDS.find(({ name }) => name === field)?.values.join(', ')}\n`;
}

function linesOf(options: readonly string[]): string {
  return options.map((option) => `  ${inLine(option)}\n`).join('');
}

/** The columns that look like fields and are not sent, and why. */
export function unsentText(unsent: readonly UnsentColumn[]): Words {
  const list = (language: Language, nameless: string) =>
    unsent
      .map(({ column, name, looks }) => {
        const shown = name === '' ? `${nameless} ${column + 1}` : `"${plain(name)}"`;
        return `${shown} (${looks[language]})`;
      })
      .join(', ');
  return {
    en: `columns that look like fields are not sent: ${list('en', 'the nameless column')}`,
    es: `hay columnas que parecen campos y no se envían: ${list('es', 'la columna sin nombre')}`,
  };
}

/** The error that stops where nobody can say what these columns are. */
export function unsentError(file: string, unsent: readonly UnsentColumn[]): BulkError {
  const options = unsent
    .map((one) => `\n  ${one.options.map((option) => inLine(option)).join('   ')}`)
    .join('');
  const text = unsentText(unsent);
  return new BulkError({
    en: `${file}: ${text.en}. Nothing was sent. For each of them, add one of these options:${options}`,
    es: `${file}: ${text.es}. No se envió nada. Para cada una, agrega una de estas opciones:${options}`,
  });
}
