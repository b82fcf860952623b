/**
 * The fields of an application: the one table that parsing, the error texts of both languages and the
 * schemas are driven by (contract, "Application input"; D5-D12). Adding a field is one entry here: it is
 * read, checked and kept in the applicant's sealed record. It gets a column of its own only where SQL has
 * to see it.
 */

import type { Currency } from './currency-data.ts';

export const NUM_DEBTS = ['1', '2', '3'] as const;
export const DEBT_AGES = ['lt6', '6a12', '1a2', 'gt2'] as const;
export const PRIOR_HISTORIES = ['yes', 'no'] as const;

export type NumDebts = (typeof NUM_DEBTS)[number];
export type DebtAge = (typeof DEBT_AGES)[number];
export type PriorHistory = (typeof PRIOR_HISTORIES)[number];

/** What a field takes and what it becomes. Lengths are in code points (D7). */
export type Rule =
  | { readonly kind: 'text'; readonly max: number }
  | { readonly kind: 'label'; readonly max: number; readonly fallback: string }
  | { readonly kind: 'phone'; readonly max: number }
  | { readonly kind: 'currency' }
  | { readonly kind: 'amount' }
  | {
      readonly kind: 'choice';
      readonly values: readonly string[];
      /** Spanish words for the same values, taken under any of the field's names (D9). */
      readonly spanish?: Readonly<Record<string, string>>;
      readonly integers?: boolean;
    }
  | { readonly kind: 'consent' };

export interface Field {
  /** The documented English name. */
  readonly name: string;
  /** The Spanish names; the first is the one that Spanish answers use. */
  readonly aliases: readonly [string, ...string[]];
  readonly rule: Rule;
  /** True where the value has a column of its own; otherwise it is part of the sealed record. */
  readonly column?: true;
}

export const FIELDS = [
  { name: 'name', aliases: ['nombre'], rule: { kind: 'text', max: 200 } },
  { name: 'id_number', aliases: ['cedula'], rule: { kind: 'text', max: 64 } },
  { name: 'city', aliases: ['ciudad'], rule: { kind: 'text', max: 120 } },
  { name: 'phone', aliases: ['telefono'], rule: { kind: 'phone', max: 32 } },
  {
    name: 'platform',
    aliases: ['plataforma'],
    rule: { kind: 'label', max: 64, fallback: 'gig' },
    column: true,
  },
  { name: 'currency', aliases: ['moneda'], rule: { kind: 'currency' }, column: true },
  { name: 'income', aliases: ['ingreso', 'ingreso_cop'], rule: { kind: 'amount' }, column: true },
  {
    name: 'debt_amount',
    aliases: ['monto_deuda', 'monto_deuda_cop'],
    rule: { kind: 'amount' },
    column: true,
  },
  {
    name: 'num_debts',
    aliases: ['num_deudas'],
    rule: { kind: 'choice', values: NUM_DEBTS, integers: true },
    column: true,
  },
  {
    name: 'debt_age',
    aliases: ['antiguedad_mora'],
    rule: { kind: 'choice', values: DEBT_AGES },
    column: true,
  },
  {
    name: 'prior_history',
    aliases: ['historial_previo'],
    rule: { kind: 'choice', values: PRIOR_HISTORIES, spanish: { si: 'yes', no: 'no' } },
    column: true,
  },
  { name: 'messaging_optin', aliases: ['optin_messaging'], rule: { kind: 'consent' }, column: true },
] as const satisfies readonly Field[];

type Entry = (typeof FIELDS)[number];
export type FieldName = Entry['name'];

type ValueOf<R extends Rule> = R extends { kind: 'choice'; values: readonly (infer V)[] }
  ? V
  : R extends { kind: 'amount' }
    ? number
    : R extends { kind: 'consent' }
      ? boolean
      : R extends { kind: 'phone' }
        ? string | null
        : R extends { kind: 'currency' }
          ? Currency
          : string;

/** A valid application in its normal form: `phone` in E.164 or null, amounts finite and > 0. */
export type Application = { [E in Entry as E['name']]: ValueOf<E['rule']> };

export interface NamedField extends Field {
  readonly name: FieldName;
  /** Every name under which the field is read, in the order of precedence (D5, D6). */
  readonly names: readonly string[];
}

/**
 * The fields with every name under which each is read. `channelName` is the third-party channel's name in
 * the two identifiers of the consent field (D6).
 */
export function namedFields(channelName: string): readonly NamedField[] {
  return FIELDS.map((field: Field & { readonly name: FieldName }) => {
    const names = [field.name, ...field.aliases];
    if (field.rule.kind === 'consent') names.push(`${channelName}_optin`, `optin_${channelName}`);
    return { ...field, names: [...new Set(names)] };
  });
}
