/**
 * Tables of the currencies of countries, calling codes and area codes (D12), and the reference rates of currencies
 * (D29). Pure.
 *
 * The calling codes are ITU-T's (E.164.D list), the +1 area codes are NANPA's and CNA's, as of November 2026.
 */

// Every active ISO 4217 currency that circulates, as of November 2026, with its reference rate (D12, D29).
//
// Left out: funds and units of account (BOV CHE CHW CLF COU MXV USN UYI UYW XAD XDR XSU XUA), metals, bonds and test
// codes (XAG XAU XPD XPT XBA XBB XBC XBD XTS XXX), and withdrawn codes (ANG, CUC, HRK, BGN, SLL, ZWL).

/**
 * The day of the rates, as `YYYY-MM-DD`. The rates are policy, not market data: they change only by an edit here.
 */
export const RATES_AS_OF = '2026-11-01';

/**
 * Units of the currency for one US dollar, right to the order of magnitude. The rates of COP, MXN, PEN, ARS, CLP, BRL,
 * EUR and USD are those of D29. If official and street rates lie far apart (CUP, IRR, SDG, VES, YER), the rate is one
 * that banks of the country publish. SYP is the pound of 2026, which dropped two zeros under the same code.
 */
// biome-ignore format: table
export const CURRENCIES = {
  AED: 3.67, AFN: 67, ALL: 83, AMD: 385, AOA: 915, ARS: 1000, AUD: 1.5, AWG: 1.79, AZN: 1.7,
  BAM: 1.76, BBD: 2, BDT: 122, BHD: 0.376, BIF: 2950, BMD: 1, BND: 1.3, BOB: 6.91, BRL: 5.5, BSD: 1, BTN: 89,
  BWP: 13.5, BYN: 3, BZD: 2,
  CAD: 1.4, CDF: 2300, CHF: 0.8, CLP: 950, CNY: 7, COP: 4000, CRC: 500, CUP: 120, CVE: 99, CZK: 21,
  DJF: 178, DKK: 6.7, DOP: 63, DZD: 130,
  EGP: 48, ERN: 15, ETB: 150, EUR: 0.9,
  FJD: 2.25, FKP: 0.75,
  GBP: 0.75, GEL: 2.7, GHS: 11, GIP: 0.75, GMD: 72, GNF: 8700, GTQ: 7.7, GYD: 209,
  HKD: 7.8, HNL: 26, HTG: 131, HUF: 335,
  IDR: 16600, ILS: 3.3, INR: 89, IQD: 1310, IRR: 1000000, ISK: 125,
  JMD: 160, JOD: 0.709, JPY: 153,
  KES: 129, KGS: 87, KHR: 4000, KMF: 443, KPW: 900, KRW: 1430, KWD: 0.307, KYD: 0.83, KZT: 520,
  LAK: 21700, LBP: 89500, LKR: 305, LRD: 180, LSL: 17.5, LYD: 5.5,
  MAD: 9.2, MDL: 17, MGA: 4500, MKD: 55, MMK: 2100, MNT: 3580, MOP: 8, MRU: 40, MUR: 46, MVR: 15.4, MWK: 1735,
  MXN: 18, MYR: 4.2, MZN: 64,
  NAD: 17.5, NGN: 1450, NIO: 36.8, NOK: 10, NPR: 142, NZD: 1.75,
  OMR: 0.385,
  PAB: 1, PEN: 3.75, PGK: 4.2, PHP: 58, PKR: 281, PLN: 3.7, PYG: 7000,
  QAR: 3.64,
  RON: 4.5, RSD: 105, RUB: 80, RWF: 1450,
  SAR: 3.75, SBD: 8.2, SCR: 14, SDG: 600, SEK: 9.5, SGD: 1.3, SHP: 0.75, SLE: 23, SOS: 571, SRD: 38, SSP: 4700,
  STN: 22, SVC: 8.75, SYP: 115, SZL: 17.5,
  THB: 32.5, TJS: 9.3, TMT: 3.5, TND: 2.9, TOP: 2.4, TRY: 43, TTD: 6.8, TWD: 31, TZS: 2460,
  UAH: 42, UGX: 3550, USD: 1, UYU: 40, UZS: 12000,
  VED: 400, VES: 400, VND: 26300, VUV: 121,
  WST: 2.75,
  XAF: 590, XCD: 2.7, XCG: 1.79, XOF: 590, XPF: 107,
  YER: 1600,
  ZAR: 17.5, ZMW: 22.5, ZWG: 26.5,
} as const;

/** An active ISO 4217 code of a circulating currency (D12). */
export type Currency = keyof typeof CURRENCIES;

/**
 * Every ISO 3166-1 alpha-2 code and its currency. Countries with several currencies have one here: Panama PAB (at par
 * with the dollar), El Salvador and Ecuador USD, Palestine ILS, Zimbabwe ZWG, Lesotho, Namibia and Bhutan their own. An
 * uninhabited place has the currency of the country that administers it (Antarctica, which has none: USD).
 */
// biome-ignore format: table
export const COUNTRY_CURRENCY = {
  AD: 'EUR', AE: 'AED', AF: 'AFN', AG: 'XCD', AI: 'XCD', AL: 'ALL', AM: 'AMD', AO: 'AOA', AQ: 'USD', AR: 'ARS',
  AS: 'USD', AT: 'EUR', AU: 'AUD', AW: 'AWG', AX: 'EUR', AZ: 'AZN',
  BA: 'BAM', BB: 'BBD', BD: 'BDT', BE: 'EUR', BF: 'XOF', BG: 'EUR', BH: 'BHD', BI: 'BIF', BJ: 'XOF', BL: 'EUR',
  BM: 'BMD', BN: 'BND', BO: 'BOB', BQ: 'USD', BR: 'BRL', BS: 'BSD', BT: 'BTN', BV: 'NOK', BW: 'BWP', BY: 'BYN',
  BZ: 'BZD',
  CA: 'CAD', CC: 'AUD', CD: 'CDF', CF: 'XAF', CG: 'XAF', CH: 'CHF', CI: 'XOF', CK: 'NZD', CL: 'CLP', CM: 'XAF',
  CN: 'CNY', CO: 'COP', CR: 'CRC', CU: 'CUP', CV: 'CVE', CW: 'XCG', CX: 'AUD', CY: 'EUR', CZ: 'CZK',
  DE: 'EUR', DJ: 'DJF', DK: 'DKK', DM: 'XCD', DO: 'DOP', DZ: 'DZD',
  EC: 'USD', EE: 'EUR', EG: 'EGP', EH: 'MAD', ER: 'ERN', ES: 'EUR', ET: 'ETB',
  FI: 'EUR', FJ: 'FJD', FK: 'FKP', FM: 'USD', FO: 'DKK', FR: 'EUR',
  GA: 'XAF', GB: 'GBP', GD: 'XCD', GE: 'GEL', GF: 'EUR', GG: 'GBP', GH: 'GHS', GI: 'GIP', GL: 'DKK', GM: 'GMD',
  GN: 'GNF', GP: 'EUR', GQ: 'XAF', GR: 'EUR', GS: 'GBP', GT: 'GTQ', GU: 'USD', GW: 'XOF', GY: 'GYD',
  HK: 'HKD', HM: 'AUD', HN: 'HNL', HR: 'EUR', HT: 'HTG', HU: 'HUF',
  ID: 'IDR', IE: 'EUR', IL: 'ILS', IM: 'GBP', IN: 'INR', IO: 'USD', IQ: 'IQD', IR: 'IRR', IS: 'ISK', IT: 'EUR',
  JE: 'GBP', JM: 'JMD', JO: 'JOD', JP: 'JPY',
  KE: 'KES', KG: 'KGS', KH: 'KHR', KI: 'AUD', KM: 'KMF', KN: 'XCD', KP: 'KPW', KR: 'KRW', KW: 'KWD', KY: 'KYD',
  KZ: 'KZT',
  LA: 'LAK', LB: 'LBP', LC: 'XCD', LI: 'CHF', LK: 'LKR', LR: 'LRD', LS: 'LSL', LT: 'EUR', LU: 'EUR', LV: 'EUR',
  LY: 'LYD',
  MA: 'MAD', MC: 'EUR', MD: 'MDL', ME: 'EUR', MF: 'EUR', MG: 'MGA', MH: 'USD', MK: 'MKD', ML: 'XOF', MM: 'MMK',
  MN: 'MNT', MO: 'MOP', MP: 'USD', MQ: 'EUR', MR: 'MRU', MS: 'XCD', MT: 'EUR', MU: 'MUR', MV: 'MVR', MW: 'MWK',
  MX: 'MXN', MY: 'MYR', MZ: 'MZN',
  NA: 'NAD', NC: 'XPF', NE: 'XOF', NF: 'AUD', NG: 'NGN', NI: 'NIO', NL: 'EUR', NO: 'NOK', NP: 'NPR', NR: 'AUD',
  NU: 'NZD', NZ: 'NZD',
  OM: 'OMR',
  PA: 'PAB', PE: 'PEN', PF: 'XPF', PG: 'PGK', PH: 'PHP', PK: 'PKR', PL: 'PLN', PM: 'EUR', PN: 'NZD', PR: 'USD',
  PS: 'ILS', PT: 'EUR', PW: 'USD', PY: 'PYG',
  QA: 'QAR',
  RE: 'EUR', RO: 'RON', RS: 'RSD', RU: 'RUB', RW: 'RWF',
  SA: 'SAR', SB: 'SBD', SC: 'SCR', SD: 'SDG', SE: 'SEK', SG: 'SGD', SH: 'SHP', SI: 'EUR', SJ: 'NOK', SK: 'EUR',
  SL: 'SLE', SM: 'EUR', SN: 'XOF', SO: 'SOS', SR: 'SRD', SS: 'SSP', ST: 'STN', SV: 'USD', SX: 'XCG', SY: 'SYP',
  SZ: 'SZL',
  TC: 'USD', TD: 'XAF', TF: 'EUR', TG: 'XOF', TH: 'THB', TJ: 'TJS', TK: 'NZD', TL: 'USD', TM: 'TMT', TN: 'TND',
  TO: 'TOP', TR: 'TRY', TT: 'TTD', TV: 'AUD', TW: 'TWD', TZ: 'TZS',
  UA: 'UAH', UG: 'UGX', UM: 'USD', US: 'USD', UY: 'UYU', UZ: 'UZS',
  VA: 'EUR', VC: 'XCD', VE: 'VES', VG: 'USD', VI: 'USD', VN: 'VND', VU: 'VUV',
  WF: 'XPF', WS: 'WST',
  YE: 'YER', YT: 'EUR',
  ZA: 'ZAR', ZM: 'ZMW', ZW: 'ZWG',
} as const satisfies Record<string, Currency>;

/** An ISO 3166-1 alpha-2 code. */
export type Country = keyof typeof COUNTRY_CURRENCY;

/** True if `code` is an ISO 3166-1 alpha-2 code, in upper case. */
export function isCountry(code: string): code is Country {
  return Object.hasOwn(COUNTRY_CURRENCY, code);
}

/**
 * Every assigned E.164 country code and its currency; unassigned codes are absent. The codes 1 and 7 are not here,
 * because `AREA_CODES` and `KAZAKH_SECOND_DIGITS` split them. null: a code of no country (free phone, satellite,
 * networks).
 *
 * One code, several places, one currency: 39 (Italy, Vatican), 44 (with Jersey, Guernsey, Man), 47 (with
 * Svalbard), 61 (with Christmas, Cocos), 212 (with Western Sahara), 262 (Réunion, Mayotte), 290 (St Helena,
 * Tristan), 358 (with Åland), 590 (Guadeloupe, St Barts, St Martin). Otherwise:
 * - 247 SHP: Ascension, part of St Helena's territory. 246 USD: Diego Garcia. 383 EUR: Kosovo.
 * - 500 FKP: the Falklands; South Georgia, nearly empty, shares the code and uses the pound, at par.
 * - 599 USD: the Caribbean Netherlands; `CURACAO_SECOND_DIGIT` splits Curaçao off.
 * - 672 AUD: Norfolk and the Australian bases in Antarctica.
 * - 379 (Vatican) and 997 (Kazakhstan): assigned, not in use.
 */
// biome-ignore format: table
export const CALLING_CODE_CURRENCY: Readonly<Record<string, Currency | null>> = {
  20: 'EGP', 27: 'ZAR', 30: 'EUR', 31: 'EUR', 32: 'EUR', 33: 'EUR', 34: 'EUR', 36: 'HUF', 39: 'EUR',
  40: 'RON', 41: 'CHF', 43: 'EUR', 44: 'GBP', 45: 'DKK', 46: 'SEK', 47: 'NOK', 48: 'PLN', 49: 'EUR',
  51: 'PEN', 52: 'MXN', 53: 'CUP', 54: 'ARS', 55: 'BRL', 56: 'CLP', 57: 'COP', 58: 'VES',
  60: 'MYR', 61: 'AUD', 62: 'IDR', 63: 'PHP', 64: 'NZD', 65: 'SGD', 66: 'THB',
  81: 'JPY', 82: 'KRW', 84: 'VND', 86: 'CNY',
  90: 'TRY', 91: 'INR', 92: 'PKR', 93: 'AFN', 94: 'LKR', 95: 'MMK', 98: 'IRR',
  211: 'SSP', 212: 'MAD', 213: 'DZD', 216: 'TND', 218: 'LYD', 220: 'GMD', 221: 'XOF', 222: 'MRU', 223: 'XOF',
  224: 'GNF', 225: 'XOF', 226: 'XOF', 227: 'XOF', 228: 'XOF', 229: 'XOF', 230: 'MUR', 231: 'LRD', 232: 'SLE',
  233: 'GHS', 234: 'NGN', 235: 'XAF', 236: 'XAF', 237: 'XAF', 238: 'CVE', 239: 'STN', 240: 'XAF', 241: 'XAF',
  242: 'XAF', 243: 'CDF', 244: 'AOA', 245: 'XOF', 246: 'USD', 247: 'SHP', 248: 'SCR', 249: 'SDG', 250: 'RWF',
  251: 'ETB', 252: 'SOS', 253: 'DJF', 254: 'KES', 255: 'TZS', 256: 'UGX', 257: 'BIF', 258: 'MZN', 260: 'ZMW',
  261: 'MGA', 262: 'EUR', 263: 'ZWG', 264: 'NAD', 265: 'MWK', 266: 'LSL', 267: 'BWP', 268: 'SZL', 269: 'KMF',
  290: 'SHP', 291: 'ERN', 297: 'AWG', 298: 'DKK', 299: 'DKK',
  350: 'GIP', 351: 'EUR', 352: 'EUR', 353: 'EUR', 354: 'ISK', 355: 'ALL', 356: 'EUR', 357: 'EUR', 358: 'EUR',
  359: 'EUR', 370: 'EUR', 371: 'EUR', 372: 'EUR', 373: 'MDL', 374: 'AMD', 375: 'BYN', 376: 'EUR', 377: 'EUR',
  378: 'EUR', 379: 'EUR', 380: 'UAH', 381: 'RSD', 382: 'EUR', 383: 'EUR', 385: 'EUR', 386: 'EUR', 387: 'BAM',
  389: 'MKD', 420: 'CZK', 421: 'EUR', 423: 'CHF',
  500: 'FKP', 501: 'BZD', 502: 'GTQ', 503: 'USD', 504: 'HNL', 505: 'NIO', 506: 'CRC', 507: 'PAB', 508: 'EUR',
  509: 'HTG', 590: 'EUR', 591: 'BOB', 592: 'GYD', 593: 'USD', 594: 'EUR', 595: 'PYG', 596: 'EUR', 597: 'SRD',
  598: 'UYU', 599: 'USD',
  670: 'USD', 672: 'AUD', 673: 'BND', 674: 'AUD', 675: 'PGK', 676: 'TOP', 677: 'SBD', 678: 'VUV', 679: 'FJD',
  680: 'USD', 681: 'XPF', 682: 'NZD', 683: 'NZD', 685: 'WST', 686: 'AUD', 687: 'XPF', 688: 'AUD', 689: 'XPF',
  690: 'NZD', 691: 'USD', 692: 'USD',
  800: null, 808: null, 850: 'KPW', 852: 'HKD', 853: 'MOP', 855: 'KHR', 856: 'LAK', 870: null, 878: null,
  880: 'BDT', 881: null, 882: null, 883: null, 886: 'TWD', 888: null,
  960: 'MVR', 961: 'LBP', 962: 'JOD', 963: 'SYP', 964: 'IQD', 965: 'KWD', 966: 'SAR', 967: 'YER', 968: 'OMR',
  970: 'ILS', 971: 'AED', 972: 'ILS', 973: 'BHD', 974: 'QAR', 975: 'BTN', 976: 'MNT', 977: 'NPR', 979: null,
  992: 'TJS', 993: 'TMT', 994: 'AZN', 995: 'GEL', 996: 'KGS', 997: 'KZT', 998: 'UZS',
};

/** +7 before one of these digits is Kazakhstan (KZT), before any other digit Russia (RUB). */
export const KAZAKH_SECOND_DIGITS = '67';

/** +599 before this digit is Curaçao (XCG). */
export const CURACAO_SECOND_DIGIT = '9';

/**
 * +1 area codes by currency. USD codes are not listed: those of the United States and its territories (340, 670, 671,
 * 684, 787, 939), of the British Virgin Islands (284) and Turks and Caicos (649), and every unknown code. Canada's
 * codes include the non-geographic ones (600, 622, 633, 644, 655, 677, 688) and the reserved ones (387, 851).
 */
// biome-ignore format: table
export const AREA_CODES: readonly (readonly [currency: Currency, areaCodes: string])[] = [
  ['CAD', '204 226 236 249 250 257 263 273 289 306 343 354 365 367 368 382 387 403 416 418 428 431 437 438 450 ' +
          '468 474 506 514 519 548 579 581 584 587 600 604 613 622 633 639 644 647 655 672 677 683 688 705 709 ' +
          '742 753 778 780 782 807 819 825 851 867 873 879 902 905 942'],
  ['DOP', '809 829 849'], ['JMD', '658 876'], ['BSD', '242'], ['BBD', '246'], ['KYD', '345'], ['BMD', '441'],
  ['XCD', '264 268 473 664 758 767 784 869'], ['XCG', '721'], ['TTD', '868'],
];

const ZERO = 48;

/** The three digits of `text` from `start` on, by which tables of codes are indexed; NaN if the text is shorter. */
export function threeDigits(text: string, start: number): number {
  return (
    (text.charCodeAt(start) - ZERO) * 100 +
    (text.charCodeAt(start + 1) - ZERO) * 10 +
    (text.charCodeAt(start + 2) - ZERO)
  );
}
