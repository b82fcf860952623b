/** The value of a spreadsheet's cell with a number: the number, or what its format shows in the number's place. */

import { DAY_MS } from '../../../../../src/ground/base/time.ts';
import { type Cell, ShownNumber, Unusable } from '../table.ts';
import { type NumberFormat, shownText } from './number-format.ts';

/** Day 0 of Excel's count, for dates from March 1900 on. */
const EPOCH_1900_MS = Date.UTC(1899, 11, 30);
const EPOCH_1904_MS = Date.UTC(1904, 0, 1);

/** From here on, Excel cuts digits off. */
export const MAX_EXACT = 1e15;
/** Stands for a value in the file of rejected rows. Reading that file refuses the text in every field. */
export const UNKNOWN = '#?';

/** The cell with the text of a number in the XML, and with a format. */
export function numberCell(
  text: string,
  { positive, negative, zero }: NumberFormat,
  from1904: boolean,
): Cell {
  const value = Number(text);
  if (!Number.isFinite(value)) return new Unusable('error', UNKNOWN);
  const section = value > 0 ? positive : value < 0 ? negative : zero;
  const isWhole = value >= 0 && Number.isInteger(value) && value < MAX_EXACT;
  switch (section.kind) {
    case 'number': {
      const { minDigits, currency } = section;
      const shown = isWhole ? String(value).padStart(minDigits, '0') : String(value);
      if (currency === null && shown === String(value)) return value;
      return new ShownNumber(value, shown, true, currency);
    }
    case 'text':
      // No field takes a number below 0, however it is shown.
      if (value < 0) return value;
      if (isWhole) return new ShownNumber(value, shownText(section.parts, value), false);
      return new Unusable('other_form', `${UNKNOWN} ${value}`);
    case 'other':
      return new Unusable('other_form', `${UNKNOWN} ${value}`);
    case 'percentage':
      return new Unusable('percentage', `${value * 100}%`);
    case 'date':
      return new Unusable('date', dateText(value, from1904));
  }
}

function dateText(value: number, from1904: boolean): string {
  const time = new Date((from1904 ? EPOCH_1904_MS : EPOCH_1900_MS) + Math.round(value * DAY_MS));
  return Number.isNaN(time.getTime()) ? `${UNKNOWN} ${value}` : time.toISOString().slice(0, 10);
}
