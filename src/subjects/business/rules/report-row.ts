/** The rows of the business report: its periods and its members, as the command and the page have them. Pure. */
import { moneyText } from '../../../domain/money/money.ts';
import { isCalendarDay } from '../../../ground/base/clock.ts';

export const PERIODS = ['day', 'week', 'month'] as const;
/** A day in UTC, a week of ISO 8601 (from Monday on), or a month. */
export type Period = (typeof PERIODS)[number];

/** The rows of `business_waits` that a period adds up. */
export function perOf(by: Period): 'day' | 'month' {
  return by === 'month' ? 'month' : 'day';
}

/** A row of a period, partner and currency, with the members and their order as JSON and CSV have them. */
export interface ReportRow {
  /** The first day of the period, `YYYY-MM-DD`. */
  readonly period: string;
  readonly partner_id: number;
  /** Of the partner. */
  readonly country: string;
  readonly currency: string;
  readonly registered: number;
  /** The sum of `duplicate`, `over_quota` and `invalid`. */
  readonly refused: number;
  readonly approved: number;
  readonly in_review: number;
  readonly rejected: number;
  readonly started: number;
  readonly offered: number;
  readonly signed: number;
  readonly withdrawn: number;
  readonly disbursed: number;
  /** Exact decimals. */
  readonly amount_registered: string;
  readonly amount_disbursed: string;
  readonly duplicate: number;
  readonly over_quota: number;
  readonly invalid: number;
  readonly review_approved: number;
  readonly review_rejected: number;
  /** Reviews against what the score leans to. */
  readonly overridden: number;
  readonly documents: number;
  /** The share of approvals in all final decisions, those of reviews too, from 0 to 1; null: there was none. */
  readonly approval_rate: number | null;
}

/** A row as it is read: amounts in minor units, and no rate. */
export type StoredRow = Omit<ReportRow, 'approval_rate'>;

/** A row as it is shown. */
export function shownRow(row: StoredRow): ReportRow {
  const text = (minor: string) => moneyText(BigInt(minor), row.currency);
  return {
    ...row,
    amount_registered: text(row.amount_registered),
    amount_disbursed: text(row.amount_disbursed),
    approval_rate: approvalRate(row),
  };
}

function approvalRate(row: StoredRow): number | null {
  const approved = row.approved + row.review_approved;
  const final = approved + row.rejected + row.review_rejected;
  return final === 0 ? null : Math.round((approved / final) * 10_000) / 10_000;
}

/** After which row a page of the report begins. */
export type ReportPlace = Pick<ReportRow, 'period' | 'partner_id' | 'currency'>;

const CURSOR = /^(\d{4}-\d\d-\d\d)\.([1-9]\d{0,8})\.([A-Z]{3})$/;

/** The cursor of the page after a row. */
export function cursorAfter({ period, partner_id, currency }: ReportPlace): string {
  return `${period}.${partner_id}.${currency}`;
}

/** The place that a cursor tells; null: it is none. */
export function placeOfCursor(cursor: string): ReportPlace | null {
  const [, period, partner, currency] = CURSOR.exec(cursor) ?? [];
  if (period === undefined || currency === undefined || !isCalendarDay(period)) return null;
  return { period, partner_id: Number(partner), currency };
}

/**
 * A line of CSV, as RFC 4180 has it but for its end, which is that of a text. A text that a spreadsheet would compute
 * gets an apostrophe in front; null is an empty cell.
 */
export function csvLine(values: readonly (string | number | null)[]): string {
  const cells = values.map((value) => {
    if (value === null) return '';
    const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : `${value}`;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${cells.join(',')}\n`;
}
