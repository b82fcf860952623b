/**
 * Converts rows to applications as the interface takes them. Only cells with one meaning are converted. Other cells are
 * sent as they are, for the service's rules to judge, or are refused here where the service would store a wrong value.
 */
import type { FieldName, Rule } from '../../../../src/domain/application/fields.ts';
import { isCurrency } from '../../../../src/domain/money/currency.ts';
import type { Country } from '../../../../src/ground/base/country-data.ts';
import { currencyOf, type NamedCurrency, PESO_OR_DOLLAR } from '../read/currency-words.ts';
import type { FileWords } from '../read/file-words.ts';
import { type Cell, type FileRow, isEmpty, ShownNumber, UNUSABLE, Unusable } from '../read/table.ts';
import {
  AmountInCurrency,
  currencyOfAmounts,
  type Decimal,
  readAmount,
  splitCurrency,
  usualCurrency,
} from './amount.ts';
import {
  CUT_FAULT,
  DECIMALS_FAULT,
  type DigitsChange,
  isCut,
  isCutBare,
  isDigitsAlone,
  isNumberOrDate,
  leftoverFault,
  NEGATIVE_FAULT,
  readDigits,
  textOfFormula,
} from './changed-values.ts';
import type { Mapping } from './columns.ts';
import { type ConsentWords, foldWord } from './consent.ts';
import type { ValueWords } from './words.ts';

/** The reason why a cell is refused. */
export interface CellFault {
  readonly field: FieldName;
  readonly column: number;
  readonly ambiguous: boolean;
  /** Never quotes the value. */
  readonly text: FileWords;
}

/** A row with the application that it becomes. */
export interface ConvertedRow {
  readonly row: FileRow;
  /** Values by the documented names, without blank and refused cells. */
  readonly application: Readonly<Record<string, unknown>>;
  /** The refused cells. A row with one is not sent, nor is a row with a fault of its own. */
  readonly faults: readonly CellFault[];
  /** The converted cells. */
  readonly changes: readonly CellChange[];
}

export interface CellChange {
  readonly field: FieldName;
  readonly change: Change;
}

/** The amounts of a row that name a currency. */
type NamedCurrencies = Map<FieldName, { readonly column: number; readonly currency: NamedCurrency }>;

const NONE: readonly never[] = [];

/** A function that converts the rows of one file. */
export function converter(
  { fields }: Mapping,
  conversion: Conversion,
  texts: Texts,
): (row: FileRow) => ConvertedRow {
  const readers = fields.map(({ field, columns }) => {
    return { field: field.name, columns, read: readerOf(field.name, field.rule, conversion, texts) };
  });
  const amounts = fields.filter(({ field }) => field.rule.kind === 'amount').map(({ field }) => field.name);
  return (row) => {
    const application: Record<string, unknown> = {};
    if (row.fault !== null) return { row, application, faults: NONE, changes: NONE };
    let faults: CellFault[] | undefined;
    let changes: CellChange[] | undefined;
    let named: NamedCurrencies | undefined;
    for (const { field, columns, read } of readers) {
      const column = columns.find((one) => !isEmpty(row.cells[one]));
      if (column === undefined) continue;
      const value = read(row.cells[column] ?? null);
      if (value instanceof UnconvertedCell) {
        faults ??= [];
        faults.push({ field, column, ambiguous: value.text === AMBIGUOUS, text: value.text });
      } else if (value instanceof Changed) {
        changes ??= [];
        changes.push({ field, change: value.change });
        application[field] = value.value;
      } else if (value instanceof AmountInCurrency) {
        named ??= new Map();
        named.set(field, { column, currency: value.currency });
        application[field] = value.value;
      } else {
        application[field] = value;
      }
    }
    // A row with a fault is not sent.
    if (named === undefined || faults !== undefined)
      return { row, application, faults: faults ?? NONE, changes: changes ?? NONE };
    const plain = { row, application, faults: NONE, changes: changes ?? NONE };
    return withCurrency(plain, amounts, named, usualCurrency(application.phone, conversion.country));
  };
}

/** The row in the currency that its amounts name, or with the faults of these amounts. */
function withCurrency(
  converted: ConvertedRow,
  amounts: readonly FieldName[],
  named: NamedCurrencies,
  usual: string | null,
): ConvertedRow {
  const { application } = converted;
  const present = amounts.filter((field) => application[field] !== undefined);
  const found = currencyOfAmounts(
    application.currency,
    present.map((field) => named.get(field)?.currency ?? null),
    usual,
  );
  if ('fault' in found) {
    const faults = Array.from(named, ([field, { column }]) => {
      return { field, column, ambiguous: false, text: found.fault };
    });
    const kept = Object.entries(application).filter(([field]) => !named.has(field as FieldName));
    return { ...converted, application: Object.fromEntries(kept), faults };
  }
  if (found.code === null) return converted;
  const change: CellChange = { field: 'currency', change: 'currency beside the amount' };
  return {
    ...converted,
    application: { ...application, currency: found.code },
    changes: [...converted.changes, change],
  };
}

// Reads the cells of each field: converts what has one meaning, and refuses what the service would take wrongly.

export interface Conversion {
  readonly decimal: Decimal | null;
  readonly consent: ConsentWords;
  readonly values: ValueWords;
  /** The partner's country; null where nobody knows it. */
  readonly country: Country | null;
}

/**
 * `typed`: a text cell of a sheet was a text from the beginning. `bare`: a text of any other file may have been a
 * number.
 */
type Texts = 'bare' | 'typed';

export type Change =
  | 'decimal comma'
  | 'number written as text'
  | 'text that the format shows'
  | 'currency beside the amount'
  | 'code of the currency'
  | 'text of a formula'
  | 'word for consent'
  | 'word of --map'
  | DigitsChange;

const AMBIGUOUS: FileWords = {
  en: 'the amount is ambiguous (the point or comma may separate thousands or decimals): add --decimal comma or --decimal point',
  es: 'el monto es ambiguo (el punto o la coma pueden separar miles o decimales): agrega --decimal comma o --decimal point',
  pt: 'o valor é ambíguo (o ponto ou a vírgula podem separar milhares ou decimais): acrescente --decimal comma ou --decimal point',
};
const NOT_WORDS: FileWords = {
  en: 'it is a number or a date, and this field takes words',
  es: 'es un número o una fecha, y este campo lleva palabras',
  pt: 'é um número ou uma data, e este campo leva palavras',
};
const NO_CODE: FileWords = {
  en: 'it is no code of a currency: write one such as COP or USD, or leave the cell empty',
  es: 'no es el código de una moneda: escribe uno como COP o USD, o deja la celda vacía',
  pt: 'não é o código de uma moeda: escreva um como BRL ou USD, ou deixe a célula vazia',
};
const NOT_A_TEXT: FileWords = {
  en: 'it is true or false, and this field takes a text',
  es: 'es verdadero o falso, y este campo lleva un texto',
  pt: 'é verdadeiro ou falso, e este campo leva um texto',
};
const GENERAL: FileWords = {
  en: 'choose the format General and check the cell',
  es: 'elige el formato General y revisa la celda',
  pt: 'escolha o formato Geral e confira a célula',
};
const OTHER_FORM: FileWords = {
  en: `its format shows another number than the cell holds: ${GENERAL.en}`,
  es: `su formato muestra otro número que el que tiene la celda: ${GENERAL.es}`,
  pt: `o formato mostra outro número que o da célula: ${GENERAL.pt}`,
};
const AN_AMOUNT: FileWords = {
  en: `its format shows an amount of a currency: ${GENERAL.en}`,
  es: `su formato muestra un monto en una moneda: ${GENERAL.es}`,
  pt: `o formato mostra um valor em uma moeda: ${GENERAL.pt}`,
};
const NOT_SHOWN: FileWords = {
  en: `its format does not show the number as it is: ${GENERAL.en}`,
  es: `su formato no muestra el número tal como es: ${GENERAL.es}`,
  pt: `o formato não mostra o número como ele é: ${GENERAL.pt}`,
};
/** The fewest digits of a phone (D11). */
const PHONE_DIGITS = 7;

/** A small number as pandas writes the numbers of a column with gaps. */
const DECIMAL_INTEGER = /^(\d)[.,]0{1,2}$/;

/** Reads a cell with a value. Gives the value to send, an `UnconvertedCell`, a `Changed` or an `AmountInCurrency`. */
type ReadCell = (cell: Cell) => unknown;

/** A cell without one clear meaning; `text` says what is wrong with it. */
class UnconvertedCell {
  readonly text: FileWords;
  constructor(text: FileWords) {
    this.text = text;
  }
}

/** A value that is not what stands in the cell, and the kind of the change. */
class Changed {
  readonly value: unknown;
  readonly change: Change;
  constructor(value: unknown, change: Change) {
    this.value = value;
    this.change = change;
  }
}

/** The reader of a field's cells. */
export function readerOf(name: FieldName, rule: Rule, conversion: Conversion, texts: Texts): ReadCell {
  const read = valueReaderOf(name, rule, conversion, texts);
  const words = conversion.values.get(name);
  const takesBooleans = ['amount', 'choice', 'consent'].includes(rule.kind);
  const readCell = (cell: Cell): unknown => {
    // The words that the person gave a value come before all others.
    const meant =
      words === undefined || typeof cell === 'object' ? undefined : words.get(foldWord(String(cell)));
    if (meant !== undefined) return new Changed(meant, 'word of --map');
    if (typeof cell === 'string') {
      const fault = leftoverFault(cell.trim(), takesBooleans);
      return fault === null ? read(cell) : readFormula(cell.trim(), fault, readCell);
    }
    if (cell instanceof Unusable) return new UnconvertedCell(UNUSABLE[cell.what]);
    if (cell instanceof ShownNumber) return readShown(cell, rule, readCell);
    return typeof cell === 'boolean' && !takesBooleans ? new UnconvertedCell(NOT_A_TEXT) : read(cell);
  };
  return readCell;
}

/** Reads a formula that is nothing but a text; other leftovers have a fault. */
function readFormula(text: string, fault: FileWords, read: ReadCell): unknown {
  const inside = textOfFormula(text);
  if (inside === null) return new UnconvertedCell(fault);
  const result = read(inside);
  return result === inside ? new Changed(inside, 'text of a formula') : result;
}

/** The shown text wins. Where a number is asked, another text than the number is a fault. */
function readShown({ value, text, isSame, currency }: ShownNumber, rule: Rule, read: ReadCell): unknown {
  const isNumber = rule.kind === 'amount' || rule.kind === 'choice' || rule.kind === 'consent';
  if (rule.kind === 'amount' && currency !== null) return new AmountInCurrency(value, currency);
  if (isNumber && isSame) return read(value);
  // Some programs give every number a $.
  if (currency !== null && currency !== PESO_OR_DOLLAR) return new UnconvertedCell(AN_AMOUNT);
  if (rule.kind === 'amount') return new UnconvertedCell(OTHER_FORM);
  const result = read(text);
  if (result === text) return new Changed(text, 'text that the format shows');
  // A shown text that has to be changed to become digits is not the digits that the person meant.
  return result instanceof Changed && !isNumber ? new UnconvertedCell(NOT_SHOWN) : result;
}

/** The reader of cells that may have a value. */
function valueReaderOf(
  name: FieldName,
  rule: Rule,
  { decimal, consent }: Conversion,
  texts: Texts,
): ReadCell {
  switch (rule.kind) {
    case 'amount':
      return (cell) => amountOf(cell, decimal);
    case 'consent':
      return (cell) => consentOf(cell, consent);
    case 'choice':
      return (cell) => choiceOf(cell, rule.integers === true);
    case 'label':
      return labelOf;
    case 'currency':
      return currencyCodeOf;
    case 'phone':
      return (cell) => digitsOf(cell, PHONE_DIGITS, texts);
    case 'note':
    case 'instant':
      return textOf;
    case 'text':
      return name === 'id_number' ? (cell) => digitsOf(cell, 1, texts) : wordsOf;
  }
}

/** A name, a city or a currency. */
function wordsOf(cell: Cell): unknown {
  if (typeof cell === 'number') return new UnconvertedCell(NOT_WORDS);
  return typeof cell === 'string' && isNumberOrDate(cell.trim()) ? new UnconvertedCell(NOT_WORDS) : cell;
}

/**
 * The code of a currency. The service would take another word for none, and the phone's currency in its place (D12).
 */
function currencyCodeOf(cell: Cell): unknown {
  if (typeof cell !== 'string') return wordsOf(cell);
  const text = cell.trim();
  if (/^[A-Za-z]{3}$/.test(text) && isCurrency(text.toUpperCase())) return cell;
  const named = currencyOf(text);
  const [code, ...others] = named === null || named === 'other' ? [] : named.codes;
  return code === undefined || others.length > 0
    ? new UnconvertedCell(NO_CODE)
    : new Changed(code, 'code of the currency');
}

/** A platform, which may be called `99`. */
function labelOf(cell: Cell): unknown {
  if (typeof cell !== 'string') return textOf(cell);
  const text = cell.trim();
  return !isNumberOrDate(text) || /^\d+$/.test(text) ? cell : new UnconvertedCell(NOT_WORDS);
}

function choiceOf(cell: Cell, takesIntegers: boolean): unknown {
  if (typeof cell !== 'string') return textOf(cell);
  // Most values have one digit.
  if (!takesIntegers || cell.length < 2) return cell;
  const whole = DECIMAL_INTEGER.exec(cell.trim())?.[1];
  return whole === undefined ? cell : new Changed(whole, 'decimals of zero left out');
}

function textOf(cell: Cell): unknown {
  if (typeof cell !== 'number') return cell;
  if (!Number.isSafeInteger(cell) || Math.abs(cell) >= 1e15) return new UnconvertedCell(CUT_FAULT);
  return new Changed(String(cell), 'number written as text');
}

/** An ID number or a phone. */
function digitsOf(cell: Cell, leastDigits: number, texts: Texts): unknown {
  if (typeof cell === 'number') {
    if (cell <= 0) return new UnconvertedCell(NEGATIVE_FAULT);
    if (!Number.isInteger(cell)) return new UnconvertedCell(DECIMALS_FAULT);
    return isCut(String(cell)) ? new UnconvertedCell(CUT_FAULT) : textOf(cell);
  }
  if (typeof cell !== 'string') return cell;
  const text = cell.trim();
  if (texts === 'bare' && isCutBare(text)) return new UnconvertedCell(CUT_FAULT);
  if (isDigitsAlone(cell)) return cell;
  const read = readDigits(text, leastDigits);
  if (read.kind === 'fault') return new UnconvertedCell(read.text);
  return read.change === null ? cell : new Changed(read.text, read.change);
}

function amountOf(cell: Cell, decimal: Decimal | null): unknown {
  if (typeof cell !== 'string') return cell;
  const amount = readAmount(cell.trim(), decimal);
  if (amount.kind === 'ambiguous') return new UnconvertedCell(AMBIGUOUS);
  if (amount.kind === 'cut') return new UnconvertedCell(CUT_FAULT);
  if (amount.kind === 'other') {
    const split = splitCurrency(cell);
    if (split === null) return cell;
    const read = amountOf(split.amount, decimal);
    if (read instanceof UnconvertedCell) return read;
    const value = read instanceof Changed ? read.value : read;
    return typeof value === 'number' ? new AmountInCurrency(value, split.currency) : cell;
  }
  const value = Number(amount.text);
  // The service itself refuses such a text.
  if (!Number.isFinite(value) || value === 0) return cell;
  return amount.change === null ? value : new Changed(value, amount.change);
}

function consentOf(cell: Cell, consent: ConsentWords): unknown {
  if (typeof cell !== 'string' && typeof cell !== 'number') return cell;
  // Most words are known as they are.
  const word = consent.has(String(cell)) ? String(cell) : foldWord(String(cell));
  const meant = consent.get(word);
  if (meant === undefined) return cell;
  return word === 'true' || word === 'false' ? meant : new Changed(meant, 'word for consent');
}
