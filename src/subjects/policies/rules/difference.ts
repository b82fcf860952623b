/**
 * What two policies do differently, by what an analyst names: an attribute, a limit, a band, a rate, a reason (D51).
 * Pure.
 */
import { capacityPlace } from '../../../domain/scorecard/attribute-places.ts';
import { baselineOf } from '../../../domain/scorecard/card.ts';
import { type Limit, type PolicyDocument, VALUES } from '../../../domain/scorecard/document.ts';
import { CRITERIA, type Criterion } from '../../../domain/scorecard/scorecard.ts';
import { CURRENCIES } from '../../../ground/base/country-data.ts';
import { keysOf } from '../../../ground/base/keys-of.ts';

/** One difference; null: the policy has nothing there. */
export interface Difference {
  /** Such as `debt_age 6a12` or `rate COP`. */
  readonly place: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** The differences, in the order of the document. Equal policies have none, whatever the order of their members. */
export function differencesOf(before: PolicyDocument, after: PolicyDocument): Difference[] {
  const [a, b] = [sayings(before), sayings(after)];
  return [...new Set([...a.keys(), ...b.keys()])].flatMap((place) => {
    const [old = null, now = null] = [a.get(place), b.get(place)];
    return old === now ? [] : [{ place, before: old, after: now }];
  });
}

/** What a policy says, by place. */
export function sayings(document: PolicyDocument): Map<string, string> {
  const { decision, limits, rates, reference_installment: terms, income, reasons = {} } = document;
  const said = new Map<string, string>();
  for (const criterion of CRITERIA) characteristic(criterion, document, said);
  for (const limit of limits) said.set(`limit ${limit.id}`, limitText(limit));
  said.set('approved from', `${decision.approved}`);
  said.set('in_review from', `${decision.in_review}`);
  said.set('reference installment', termsText(terms));
  for (const [currency, own] of Object.entries(terms.by_currency ?? {}))
    said.set(`reference installment ${currency}`, termsText(own));
  for (const [name, value] of Object.entries(income ?? {})) said.set(`income ${name}`, `${value}`);
  for (const [code, { en }] of Object.entries(reasons)) said.set(`reason ${code}`, en);
  said.set('rates as of', rates.as_of);
  for (const currency of keysOf(CURRENCIES)) said.set(`rate ${currency}`, `${Number(rates[currency])}`);
  if (typeof document.valid_from === 'string') said.set('valid from', document.valid_from);
  return said;
}

function characteristic(criterion: Criterion, document: PolicyDocument, said: Map<string, string>): void {
  const { characteristics } = document;
  const text = ({ points, reason }: { readonly points: number; readonly reason?: string }) =>
    `${points} points${reason === undefined ? '' : `, ${reason}`}`;
  if (criterion === 'payment_capacity') {
    for (const attribute of characteristics.payment_capacity.attributes) {
      said.set(capacityPlace(attribute), text(attribute));
    }
  } else {
    for (const value of VALUES[criterion]) {
      const attribute = characteristics[criterion].attributes.find(({ is }) => is.includes(value));
      if (attribute !== undefined) said.set(`${criterion} ${value}`, text(attribute));
    }
  }
  said.set(`${criterion} baseline`, `${baselineOf(characteristics[criterion])} points`);
}

function limitText({ usd, installments_of_income: share, reason }: Limit): string {
  return usd === undefined
    ? `installment up to ${Number(share)} of the income, ${reason}`
    : `up to ${Number(usd)} USD, ${reason}`;
}

function termsText({ months, monthly_rate }: PolicyDocument['reference_installment']): string {
  return `${months} months at ${Number(monthly_rate)} a month`;
}
