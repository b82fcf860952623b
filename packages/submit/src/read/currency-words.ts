/** Currencies as people and spreadsheets write them beside an amount. */

/** A word for a currency beside an amount. */
export interface NamedCurrency {
  readonly word: string;
  /** The ISO 4217 codes that the word can mean, at least one. */
  readonly codes: readonly string[];
}

/** The codes that are read. A code of another part of the world may be a word: `ALL`, `TOP`. */
const CODES = new Set(
  'ARS BOB BRL CLP COP CRC CUP DOP EUR GTQ HNL MXN NIO PAB PEN PYG USD UYU VES'.split(' '),
);
const SIGNS = new Map([
  ...[['US$', 'USD'], ['U$S', 'USD'], ['U$', 'USD UYU'], ['$U', 'UYU'], ['CO$', 'COP'], ['COL$', 'COP'], ['AR$', 'ARS']],
  ...[['MX$', 'MXN'], ['RD$', 'DOP'], ['R$', 'BRL'], ['C$', 'NIO CAD'], ['S/', 'PEN'], ['S/.', 'PEN'], ['B/', 'PAB']],
  ...[['B/.', 'PAB'], ['BS', 'BOB VES'], ['BS.', 'BOB VES'], ['GS', 'PYG'], ['GS.', 'PYG'], ['₲', 'PYG'], ['L', 'HNL']],
  ...[['Q', 'GTQ'], ['₡', 'CRC'], ['€', 'EUR'], ['£', 'GBP EGP'], ['¥', 'JPY CNY']],
].map(([sign = '', codes = '']): [string, string[]] => [sign, codes.split(' ')])); // biome-ignore format: one table
/** The sign that stands for the peso of several countries and for the dollar. */
const SIGN = '$';
export const PESO_OR_DOLLAR: NamedCurrency = {
  word: SIGN,
  codes: ['ARS', 'CLP', 'COP', 'CUP', 'DOP', 'MXN', 'USD', 'UYU'],
};

/**
 * The currency that the words beside an amount name; `PESO_OR_DOLLAR` where `$` is the only one. Null where there is no
 * word. 'other' where a word is no currency, or where two words contradict each other.
 */
export function currencyOf(beside: string): NamedCurrency | null | 'other' {
  let named: NamedCurrency | null = null;
  for (const word of beside.split(/\s+/)) {
    if (word === '' || word === SIGN) continue;
    const codes = codesOf(word.toUpperCase());
    const common: readonly string[] =
      named === null ? codes : named.codes.filter((code) => codes.includes(code));
    if (common.length === 0) return 'other';
    named = { word, codes: common };
  }
  return named ?? (beside.includes(SIGN) ? PESO_OR_DOLLAR : null);
}

function codesOf(word: string): readonly string[] {
  const signs = SIGNS.get(word);
  if (signs !== undefined) return signs;
  // `MXN$`, `EUR€`
  const code = word.replace(/\p{Sc}$/u, '');
  return CODES.has(code) ? [code] : [];
}
