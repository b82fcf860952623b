/**
 * Finds columns that no field is read from although they look like one: by their names or by their values. A phone
 * below an unknown name would be dropped without a word, and an applicant registered without it.
 */
import type { FieldName } from '../../../../src/domain/application/fields.ts';
import { currencyOf, PESO_OR_DOLLAR } from '../read/currency-words.ts';
import type { FileWords } from '../read/file-words.ts';
import { isRejectedHeader, REASON_COLUMN, ROW_COLUMN } from '../read/rejected-rows.ts';
import { type Cell, type FileRow, isEmpty, ShownNumber, Unusable } from '../read/table.ts';
import { readAmount, splitCurrency } from './amount.ts';
import { CUT_FAULT, isDate, readDigits, textOfFormula } from './changed-values.ts';
import {
  columnInOption,
  fieldMeantBy,
  type Mapping,
  type Named,
  namesMoney,
  quoted,
  simplify,
} from './columns.ts';
import { foldWord } from './consent.ts';

/** So many values tell what a column holds. */
const LOOKED_AT = 200;
/** The part of the values that must look alike. Others may be words for no value. */
const ENOUGH = 1 / 3;
/** A phone or an ID number has so many digits in a row. An address has words or a # between its numbers. */
const LEAST_DIGITS = 7;
const DIGITS_IN_A_ROW = /(?:\d[ .()\u00a0-]{0,2}){7}/;
/** Smaller whole numbers are ages, counts and grades. */
const LEAST_AMOUNT = 10_000;
const YES_OR_NO = new Set(
  'si s no n yes y sim nao true false verdadero verdadeiro falso acepta acepto autoriza autorizo'.split(' '),
);

const LOOKS = {
  numbers: {
    en: 'phones, ID numbers or long numbers',
    es: 'teléfonos, cédulas o números largos',
    pt: 'telefones, documentos ou números longos',
  },
  amounts: { en: 'amounts', es: 'montos', pt: 'valores' },
  yes_or_no: { en: 'yes and no', es: 'sí y no', pt: 'sim e não' },
  currencies: { en: 'currencies', es: 'monedas', pt: 'moedas' },
  name: { en: 'by its name', es: 'por su nombre', pt: 'pelo nome' },
} as const satisfies Record<string, FileWords>;

/** A column with values that no field is read from, and why it looks like one. */
export interface UnsentColumn {
  readonly column: number;
  /** The name in the file; empty where the column has none. */
  readonly name: string;
  readonly looks: FileWords;
  /** The options that settle it, as a person copies them. The last one leaves the column out. */
  readonly options: readonly string[];
}

interface Profile {
  readonly column: number;
  readonly simple: string;
  values: number;
  readonly counts: {
    numbers: number;
    amounts: number;
    numeric: number;
    yes_or_no: number;
    currencies: number;
  };
}

/** Looks at the rows of a file, in its order, and says at the end which columns look like fields. */
export class UnsentColumns {
  readonly #columns: readonly string[];
  readonly #mapped: ReadonlySet<FieldName>;
  #open: Profile[];
  readonly #profiles: readonly Profile[];

  constructor({ columns }: Named, { fields, unused, decided }: Mapping) {
    this.#columns = columns;
    this.#mapped = new Set(fields.map(({ field }) => field.name));
    const isOurs = (name = '') => isRejectedHeader(columns) && [ROW_COLUMN, REASON_COLUMN].includes(name);
    this.#open = unused
      .filter((column) => !decided.has(column) && !isOurs(columns[column]))
      .map((column) => ({
        column,
        simple: simplify(columns[column] ?? ''),
        values: 0,
        counts: { numbers: 0, amounts: 0, numeric: 0, yes_or_no: 0, currencies: 0 },
      }));
    this.#profiles = this.#open;
  }

  add({ cells }: FileRow): void {
    let isFull = false;
    for (const profile of this.#open) {
      const cell = cells[profile.column];
      if (isEmpty(cell)) continue;
      count(profile, cell ?? null);
      isFull ||= profile.values === LOOKED_AT;
    }
    if (isFull) this.#open = this.#open.filter(({ values }) => values < LOOKED_AT);
  }

  end(): UnsentColumn[] {
    return this.#profiles.flatMap((profile) => {
      const looks = this.#looksOf(profile);
      return looks === null
        ? []
        : [this.#unsent(profile.column, LOOKS[looks], this.#fieldOf(profile, looks))];
    });
  }

  #looksOf({ simple, values, counts }: Profile): keyof typeof LOOKS | null {
    const are = (kind: keyof Profile['counts']) => values > 0 && counts[kind] >= ENOUGH * values;
    if (are('numeric') && namesMoney(simple)) return 'amounts';
    if (are('numbers')) return 'numbers';
    if (are('amounts')) return 'amounts';
    if (are('yes_or_no')) return 'yes_or_no';
    if (are('currencies')) return this.#mapped.has('currency') ? null : 'currencies';
    const meant = values === 0 ? null : fieldMeantBy(simple);
    // The name has a column: a second one may have its other half.
    return meant === null || (this.#mapped.has(meant) && meant !== 'name') ? null : 'name';
  }

  /** The field without a column that the column may be meant for. */
  #fieldOf({ simple }: Profile, looks: keyof typeof LOOKS): FieldName | null {
    const field = looks === 'numbers' ? 'phone' : looks === 'currencies' ? 'currency' : fieldMeantBy(simple);
    return field === null || this.#mapped.has(field) ? null : field;
  }

  #unsent(column: number, looks: FileWords, field: FieldName | null): UnsentColumn {
    const named = columnInOption(this.#columns, column);
    const map = field === null ? [] : [`--map ${quoted(`${field}=${named}`)}`];
    const name = this.#columns[column] ?? '';
    return { column, name, looks, options: [...map, `--ignore ${quoted(named)}`] };
  }
}

function count(profile: Profile, cell: Cell): void {
  const { counts } = profile;
  profile.values += 1;
  if (cell instanceof Unusable) return;
  // Of nested JSON the numbers inside it count.
  const isNested = typeof cell === 'object' && !(cell instanceof ShownNumber);
  const whole = isNested ? JSON.stringify(cell) : String(cell).trim();
  const text = textOfFormula(whole) ?? whole;
  if (isDate(text)) return;
  if (typeof cell === 'boolean' || YES_OR_NO.has(foldWord(text))) counts.yes_or_no += 1;
  if ((currencyOf(text) ?? PESO_OR_DOLLAR) !== PESO_OR_DOLLAR && currencyOf(text) !== 'other')
    counts.currencies += 1;
  const split = splitCurrency(text);
  if (split === null && isPhoneOrId(text)) counts.numbers += 1;
  const amount = readAmount(split?.amount ?? text, 'comma');
  if (amount.kind !== 'number') return;
  counts.numeric += 1;
  const isAmount =
    split !== null || Number(amount.text) >= LEAST_AMOUNT || amount.change === 'thousands separators';
  if (isAmount) counts.amounts += 1;
}

function isPhoneOrId(text: string): boolean {
  const read = readDigits(text, LEAST_DIGITS);
  return read.kind === 'fault' ? read.text === CUT_FAULT : DIGITS_IN_A_ROW.test(read.text);
}
