/**
 * Computes until when an applicant may withdraw from a signed contract, in calendar or business days of the country
 * (D46). Pure.
 */
import type { Country } from '../../ground/base/country-data.ts';
import type { PublicHolidays } from '../message/contact-window.ts';
import { addDays, localDate, startOfDate, weekdayOf } from './local-day.ts';

/** The period that the country gives: business days are Monday to Friday without the country's public holidays. */
export interface WithdrawalPeriod {
  readonly days: number;
  readonly kind: 'business' | 'calendar';
}

/**
 * The instant at which the period is over: the end of its last day on the country's wall clock. The day of the
 * signature does not count.
 */
export function withdrawalEnd(
  { days, kind }: WithdrawalPeriod,
  signedAt: Date,
  { country, zone }: { readonly country: Country; readonly zone: string },
  holidays: PublicHolidays,
): Date {
  let date = localDate(signedAt, zone);
  for (let left = days; left > 0; ) {
    date = addDays(date, 1);
    if (kind === 'calendar' || isBusinessDay(date, country, holidays)) left -= 1;
  }
  return startOfDate(addDays(date, 1), zone);
}

/**
 * The day on which a loan that is signed today is paid out: the first business day after the period to withdraw. The
 * date is YYYY-MM-DD on the country's wall clock.
 */
export function plannedDisbursement(
  withdrawal: 'none' | WithdrawalPeriod,
  signedAt: Date,
  where: { readonly country: Country; readonly zone: string },
  holidays: PublicHolidays,
): string {
  const from = withdrawal === 'none' ? signedAt : withdrawalEnd(withdrawal, signedAt, where, holidays);
  let date = localDate(from, where.zone);
  while (!isBusinessDay(date, where.country, holidays)) date = addDays(date, 1);
  return date;
}

function isBusinessDay(date: string, country: Country, holidays: PublicHolidays): boolean {
  const weekday = weekdayOf(date);
  return weekday !== 0 && weekday !== 6 && !holidays(country, Number(date.slice(0, 4))).has(date);
}

/** The result of a withdrawal. */
export type WithdrawalResult = 'withdrawn' | 'too_late' | 'paid_out' | 'rejected' | 'not_signed';

/** Who takes a signature back, for the history of the application. */
export interface Withdrawer {
  readonly actor: string;
  readonly reason: string;
}

/** A withdrawal that came by another way than the chat, such as a letter, as an operator has judged it. */
export interface ReceivedWithdrawal {
  /** The day on which it arrived (YYYY-MM-DD), on the country's wall clock. */
  readonly day: string;
  /** The time to withdraw was over, but the lender accepts the withdrawal. */
  readonly isLate: boolean;
  readonly by: Withdrawer;
}
