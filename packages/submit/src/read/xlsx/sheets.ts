/** The sheets of a workbook, and which one is read. */
import { inEach, type Words } from '../../../../../src/ground/base/language.ts';
import { BulkError } from '../bulk-error.ts';
import type { Relationship } from './relationships.ts';

export interface Sheet {
  readonly name: string;
  /** Its place among all sheets, from 1. */
  readonly number: number;
  readonly isHidden: boolean;
  /** False for a chart, which has no cells. */
  readonly isTable: boolean;
  /** The sheet's part of the archive. */
  readonly part: string;
}

/** A sheet as the workbook lists it, and the part that its id stands for. */
interface Listed {
  readonly name: string;
  readonly isHidden: boolean;
  readonly target: Relationship | undefined;
}

/** No text for people names more sheets. */
const SHOWN_SHEETS = 12;

/** The sheets in the workbook's order. */
export function sheetsOf(listed: readonly Listed[]): Sheet[] {
  return listed.map(({ name, isHidden, target }, index) => ({
    name,
    number: index + 1,
    isHidden,
    isTable: target !== undefined && !/^(chartsheet|dialogsheet|xl\w*macrosheet)$/i.test(target.type),
    part: target?.part ?? '',
  }));
}

/** The sheet with the name, in any capitalisation, or else with the number. Throws `BulkError`. */
export function sheetNamed(file: string, sheets: readonly Sheet[], wanted: string): Sheet {
  const fold = (name: string) => name.trim().toLowerCase();
  const all = listOf(sheets);
  const refusal = ({ en, es }: Words) =>
    new BulkError({
      en: `${file}: --sheet: ${en}. Sheets: ${all.en}`,
      es: `${file}: --sheet: ${es}. Hojas: ${all.es}`,
    });
  const sheet =
    sheets.find(({ name }) => name === wanted) ??
    sheets.find(({ name }) => fold(name) === fold(wanted)) ??
    sheets.find(({ number }) => String(number) === wanted.trim());
  if (sheet === undefined)
    throw refusal({ en: `there is no sheet "${wanted}"`, es: `no hay una hoja "${wanted}"` });
  if (!sheet.isTable)
    throw refusal(
      inEach(
        (language) =>
          `${listOf([sheet])[language]} ${{ en: 'has no cells', es: 'no tiene celdas' }[language]}`,
      ),
    );
  return sheet;
}

/** The sheets that may be read without being chosen: those that a person sees. */
export function visibleTables(sheets: readonly Sheet[]): readonly Sheet[] {
  const tables = sheets.filter(({ isTable }) => isTable);
  const visible = tables.filter(({ isHidden }) => !isHidden);
  return visible.length > 0 ? visible : tables;
}

const A_CHART: Words = { en: 'a chart', es: 'un gráfico' };
const HIDDEN: Words = { en: 'hidden', es: 'oculta' };

/** `1 "Hoja1", 2 "Resumen" (a chart), 3 "Datos" (hidden)`. */
export function listOf(sheets: readonly Sheet[]): Words {
  return inEach((language) => {
    const named = sheets.slice(0, SHOWN_SHEETS).map(({ name, number, isHidden, isTable }) => {
      const what = [isTable ? [] : A_CHART[language], isHidden ? HIDDEN[language] : []].flat().join(', ');
      return `${number} "${name}"${what === '' ? '' : ` (${what})`}`;
    });
    const rest = sheets.length - named.length;
    const more = { en: ` and ${rest} more`, es: ` y ${rest} más` };
    return `${named.join(', ')}${rest > 0 ? more[language] : ''}`;
  });
}
