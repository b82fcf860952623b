/**
 * Recognises names and cities that a program damaged: it read them in a wrong encoding, or wrote them for another
 * program. A file of any encoding can have such texts. The service itself could not tell such a text from a name.
 */
import type { FieldName } from '../../../domain/application/fields.ts';
import type { Words } from '../../../ground/base/language.ts';
import type { Mapping } from './columns.ts';
import type { CellFault, ConvertedRow } from './convert.ts';

const CHECKED: readonly FieldName[] = ['name', 'city'];
/** A text without these signs is sound. Most texts have plain letters and the usual accents alone, and end here. */
const SUSPICIOUS = /^\s*['"]|[^\0-\x7fáéíóúñüãõâêôàçÁÉÍÓÚÑÜ]|[?&\\%=_]|[a-záéíóúñüãõâêôàç][ÁÉÍÓÚÑÜ]/;
const DAMAGED: readonly RegExp[] = [
  // What programs write for a character that they cannot show or do not know.
  /\ufffd|[\x80-\x9f]|\p{L}[?¿]|[?]\p{L}/u,
  // UTF-8 read by a code page: `GÃ³mez`, `G├│mez`, `G√≥mez`.
  /[ÃÂ][\u00a1-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|Â\xa0|â€|ÔÇ|ΓÇ|‚Ä/,
  // A code page read by another: `GarcÝa`, `Mu¤oz`, `Gonz‡lez`. The signs ´, ` and ° are usual in names and addresses.
  /\p{Ll}[À-ÖØ-Þ]|\p{Lu}[ÀÂ-ÈÊ-ÌÎ-ÐÒÔÕÖØÙÛÝÞ]\p{Ll}/u,
  /\p{L}[¡¢£¤¥¦§¨©¬®¯±²³¶¸¹»«¼½¾×÷ƒ‚„†‡‰ˆ˜‹›•…\u2200-\u25ff\ue000-\uf8ff\xad]\p{L}/u,
  /\p{L}[¢£¤¥¦¬±¶¸×÷ƒ‚„†‡‰ˆ˜\u2200-\u25ff\ue000-\uf8ff]|[¤¦¬±¶¸×÷ƒˆ˜\u2200-\u259f\ue000-\uf8ff]\p{L}/u,
  // The second of the two characters is gone: `Ãlvaro`, `GARCÃA`.
  /(?<!\p{L})Ã\p{L}|\p{Lu}Ã[A-DF-HJ-MP-RT-Y]/u,
  // Written for HTML, JSON, mail, Python, a URL or XML: `Mu&ntilde;oz`, `Mu\u00f1oz`, `Mu=F1oz`, `Mu\xf1oz`,
  // `Mu%C3%B1oz`.
  /&(?:[a-z]{2,8}|#\d{1,7}|#x[\da-f]{1,6});|\\u[\da-f]{4}|\\x[\da-f]{2}|[=%][c-f][\da-f]|_x[\da-f]{4}_/i,
];
/**
 * Marks that a program wrote: quotation marks around a text, or an apostrophe before it, which keeps a spreadsheet from
 * reading a number. `'t Hooft` is a name.
 */
const IN_MARKS = /^\s*(?:'(?!t\b)|"[^"]*"\s*$)/;
const MARKS_FAULT: Words = {
  en: 'the text stands in quotation marks or behind an apostrophe: a program wrote them, so take them off',
  es: 'el texto está entre comillas o detrás de un apóstrofo que puso un programa: quítalos',
};
const TEXT: Words = {
  en: 'the text is damaged: a program read it in a wrong encoding (such as "MuÃ±oz" or "Mu?oz")',
  es: 'el texto está dañado: un programa lo leyó en otra codificación (como "MuÃ±oz" o "Mu?oz")',
};

/** True for a text that a program damaged. */
export function isDamaged(text: string): boolean {
  return faultOf(text) !== null;
}

function faultOf(text: string): Words | null {
  if (!SUSPICIOUS.test(text)) return null;
  if (DAMAGED.some((pattern) => pattern.test(text))) return TEXT;
  return IN_MARKS.test(text) ? MARKS_FAULT : null;
}

/** Adds the faults of damaged names and cities to converted rows. */
export function damageFinder({ fields }: Mapping): (row: ConvertedRow) => ConvertedRow {
  const checked = fields
    .filter(({ field }) => CHECKED.includes(field.name))
    .flatMap(({ field, columns }) => columns.map((column) => ({ field: field.name, column })));
  return (converted) => {
    const { cells } = converted.row;
    let faults: CellFault[] | undefined;
    for (const { field, column } of checked) {
      const text = cells[column];
      const fault = typeof text === 'string' ? faultOf(text) : null;
      if (fault === null) continue;
      // Of several columns the first one with a value counts.
      if (converted.application[field] !== text) continue;
      faults ??= [...converted.faults];
      faults.push({ field, column, ambiguous: false, text: fault });
    }
    return faults === undefined ? converted : { ...converted, faults };
  };
}
