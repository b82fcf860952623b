/** The form in which two phone numbers are compared (D11). */
import type { Phone } from './phone.ts';

const CODE_6 = '6'.charCodeAt(0);
const MX_AR_DOUBLE_LENGTH = '+521'.length + 10;
const BR_SHORT_LENGTH = '+55'.length + 2 + 8;
const BR_AREA_END = '+55'.length + 2;

/**
 * The form in which two numbers are compared (D11): the known double forms of one line become equal. Mexico loses the
 * 1 and Argentina the 9 between country code and ten digits. A Brazilian mobile of eight digits (beginning with 6 to
 * 9) gains the ninth. Any other number stays as it is. Folding twice changes nothing.
 */
export function foldPhone(e164: Phone): string {
  if (e164.length === MX_AR_DOUBLE_LENGTH) {
    if (e164.startsWith('+521')) return `+52${e164.slice(4)}`;
    if (e164.startsWith('+549')) return `+54${e164.slice(4)}`;
  } else if (
    e164.length === BR_SHORT_LENGTH &&
    e164.startsWith('+55') &&
    e164.charCodeAt(BR_AREA_END) >= CODE_6
  ) {
    return `${e164.slice(0, BR_AREA_END)}9${e164.slice(BR_AREA_END)}`;
  }
  return e164;
}
