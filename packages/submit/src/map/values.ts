/** Reads what `--map field:word=value` says of the words in a file. Other words are never guessed (D10). */
import type { FieldName, NamedField } from '../../../../src/domain/application/fields.ts';
import type { Words } from '../../../../src/ground/base/language.ts';
import { BulkError } from '../read/bulk-error.ts';
import { BULK_FIELDS, fieldNamed } from './columns.ts';
import { foldWord } from './fold-word.ts';

/** The value of each word, by field. The words have the form of `foldWord`. */
export type ValueWords = ReadonlyMap<FieldName, ReadonlyMap<string, string | boolean>>;

/** The fields whose words can be mapped, with the values that a word can get. */
export const WORD_FIELDS: readonly { readonly name: FieldName; readonly values: readonly string[] }[] =
  BULK_FIELDS.map((field) => ({ name: field.name, values: allowedValues(field) })).filter(
    ({ values }) => values.length > 0,
  );

/** True for `field:word=value`, false for `field=Column`. */
export function isValueMap(text: string): boolean {
  return /^[^=]*:/.test(text);
}

/** Reads texts such as `debt_age:Más de 2 años=gt2`. The last `=` counts, because a word may have one. */
export function readValueMaps(texts: readonly string[]): ValueWords {
  const values = new Map<FieldName, Map<string, string | boolean>>();
  for (const text of texts) {
    const [, name = '', word = '', meaning = ''] = /^([^:]*):(.*)=([^=]*)$/s.exec(text) ?? [];
    const folded = foldWord(word);
    const refusal = ({ en, es }: Words) =>
      new BulkError({ en: `--map ${text}: ${en}`, es: `--map ${text}: ${es}` });
    if (folded === '')
      throw refusal({ en: 'write it as field:word=value', es: 'escríbelo como campo:palabra=valor' });
    const field = fieldNamed(name, BULK_FIELDS);
    const allowed = field === null ? [] : allowedValues(field);
    if (field === null || allowed.length === 0) {
      const names = WORD_FIELDS.map((one) => one.name).join(', ');
      throw refusal({
        en: `words can be mapped for these fields: ${names}`,
        es: `se pueden asignar palabras en estos campos: ${names}`,
      });
    }
    const value = allowed.find((one) => one === meaning.trim().toLowerCase());
    if (value === undefined) {
      throw refusal({
        en: `the value after = must be one of: ${allowed.join(', ')}`,
        es: `el valor después de = debe ser uno de: ${allowed.join(', ')}`,
      });
    }
    const words = values.get(field.name) ?? new Map<string, string | boolean>();
    const meant = field.rule.kind === 'consent' ? value === 'true' : value;
    if ((words.get(folded) ?? meant) !== meant)
      throw refusal({ en: 'the word has two values', es: 'la palabra tiene dos valores' });
    values.set(field.name, words.set(folded, meant));
  }
  return values;
}

function allowedValues({ rule }: NamedField): readonly string[] {
  if (rule.kind === 'choice') return rule.values;
  return rule.kind === 'consent' ? ['true', 'false'] : [];
}
