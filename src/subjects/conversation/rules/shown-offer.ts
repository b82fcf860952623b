/**
 * Writes an offer in the words and numbers of a chat (D45: what is shown before the acceptance). Pure. `domain/loan`
 * computes the offer, the flow's text `summary` has the sentences.
 */
import type { Language } from '../../../domain/conversation/flow.ts';
import type { OfferShown } from '../../../domain/conversation/input.ts';
import type { Offer } from '../../../domain/loan/offer.ts';
import type { WithdrawalPeriod } from '../../../domain/loan/withdrawal.ts';
import { formatMoney, formatPercent } from '../../../domain/money/money.ts';

interface OfferWords {
  readonly monthlyRate: string;
  readonly aMonth: string;
  readonly noLateRate: string;
  readonly noWithdrawal: string;
  readonly days: Readonly<Record<WithdrawalPeriod['kind'], string>>;
}

const WORDS: Readonly<Record<Language, OfferWords>> = {
  es: {
    monthlyRate: 'tasa de interés mensual',
    aMonth: 'al mes',
    noLateRate: 'no se cobran',
    noWithdrawal: 'sin plazo',
    days: { business: 'días hábiles', calendar: 'días calendario' },
  },
  pt: {
    monthlyRate: 'taxa de juros mensal',
    aMonth: 'ao mês',
    noLateRate: 'não são cobrados',
    noWithdrawal: 'sem prazo',
    days: { business: 'dias úteis', calendar: 'dias corridos' },
  },
  en: {
    monthlyRate: 'monthly interest rate',
    aMonth: 'a month',
    noLateRate: 'none',
    noWithdrawal: 'not possible',
    days: { business: 'business days', calendar: 'calendar days' },
  },
};

function wordsOf(locale: string): OfferWords {
  return WORDS[new Intl.Locale(locale).language as Language] ?? WORDS.es;
}

/** The offer as the person reads it. `locale`: that of the conversation. */
export function shownOffer(offer: Offer, locale: string): OfferShown {
  const money = (text: string) => formatMoney(text, offer.currency, locale);
  return {
    amount: money(offer.amount),
    net: money(offer.net),
    // Contracts from before the debts were listed do not say who is paid.
    creditors: offer.paying === undefined ? '-' : money(offer.paying.creditors),
    toApplicant: offer.paying === undefined ? '-' : money(offer.paying.toApplicant),
    installment: money(offer.installment),
    months: `${offer.months}`,
    total: money(offer.total),
    fees: offer.fees === undefined ? '-' : money(offer.fees),
    taxes: offer.taxes === undefined ? '-' : money(offer.taxes),
    // A contract that version 1.0 made tells the monthly rate.
    interestRate: formatPercent(offer.interestRate ?? offer.monthlyRate, locale),
    interestRateName: asLine(offer.interestRateName ?? wordsOf(locale).monthlyRate),
    rate: formatPercent(offer.annualRate, locale),
    rateName: asLine(offer.rateName),
    lateRate: lateRateText(offer.lateRate, locale),
    lender: offer.lender,
    disbursement: dayText(offer.disbursement, locale),
    firstDue: dayText(offer.firstDue, locale),
    validUntil: dayText(offer.validUntil, locale),
    withdrawal: withdrawalText(offer.withdrawal, locale),
  };
}

/** A date (YYYY-MM-DD), written out. A contract that version 1.0 made has no dates. */
function dayText(date: string | undefined, locale: string): string {
  if (date === undefined) return '-';
  return new Intl.DateTimeFormat(locale, { timeZone: 'UTC', dateStyle: 'long' }).format(new Date(date));
}

/** A name that begins a line. */
function asLine(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** A monthly rate, or that there is none. A contract that version 1.0 made tells neither. */
function lateRateText(rate: string | undefined, locale: string): string {
  if (rate === undefined) return '-';
  const { noLateRate, aMonth } = wordsOf(locale);
  return rate === 'none' ? noLateRate : `${formatPercent(rate, locale)} ${aMonth}`;
}

/** How long the person may withdraw, in days. A contract that version 1.0 made does not tell. */
function withdrawalText(period: Offer['withdrawal'], locale: string): string {
  if (period === undefined) return '-';
  const { noWithdrawal, days } = wordsOf(locale);
  return period === 'none' ? noWithdrawal : `${period.days} ${days[period.kind]}`;
}
