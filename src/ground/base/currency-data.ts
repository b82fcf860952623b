/**
 * Every active ISO 4217 currency that circulates, as of November 2026, with its reference rate (D12, D29).
 *
 * Left out: funds and units of account (BOV CHE CHW CLF COU MXV USN UYI UYW XAD XDR XSU XUA), metals, bonds and test
 * codes (XAG XAU XPD XPT XBA XBB XBC XBD XTS XXX), and withdrawn codes (ANG, CUC, HRK, BGN, SLL, ZWL).
 */

/**
 * The day of the rates, as `YYYY-MM-DD`. The rates are policy, not market data: they change only by an edit here.
 */
export const RATES_AS_OF = '2026-11-01';

/**
 * Units of the currency for one US dollar, right to the order of magnitude. The rates of COP, MXN, PEN, ARS, CLP, BRL,
 * EUR and USD are those of D29. Where official and street rates lie far apart (CUP, IRR, SDG, VES, YER), the rate is
 * one that banks of the country publish. SYP is the pound of 2026, which dropped two zeros under the same code.
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
