/** What `ventanilla submit` says of words and columns that it does not understand, with options to copy and paste. */

import type { Language, Words } from '../../../../src/ground/base/language.ts';
import { inLine } from '../../../../src/ground/base/printable.ts';
import { type Io, writeOutput } from '../../../../src/program/cli/output.ts';
import type { Check } from '../map/check.ts';
import type { UnsentColumn } from '../map/unsent.ts';
import { WORD_FIELDS } from '../map/values.ts';
import { optionsFor, type UnknownWord } from '../map/words.ts';
import { BulkError } from '../read/bulk-error.ts';
import { plain } from './submit-preview.ts';
import { rowsOf } from './submit-progress.ts';

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
