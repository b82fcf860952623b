/**
 * The fields of an application in one table, for parsing, error texts, schemas and documentation (contract,
 * "Application input"; D5-D12). Pure. To add a field, add an entry: the field is then read, checked, documented and
 * kept in the applicant's personal record. A field gets a column of its own only if SQL needs its value.
 */

import type { Currency } from '../../ground/base/country-data.ts';
import type { Words } from '../../ground/base/language.ts';
import type { Phone } from '../phone/phone.ts';

export const NUM_DEBTS = ['1', '2', '3'] as const;
export const DEBT_AGES = ['lt6', '6a12', '1a2', 'gt2'] as const;
export const PRIOR_HISTORIES = ['yes', 'no'] as const;

export type NumDebts = (typeof NUM_DEBTS)[number];
export type DebtAge = (typeof DEBT_AGES)[number];
export type PriorHistory = (typeof PRIOR_HISTORIES)[number];

/** The values that a field takes and their normal form. Lengths are in code points (D7). */
export type Rule =
  | { readonly kind: 'text'; readonly max: number }
  | { readonly kind: 'label'; readonly max: number; readonly fallback: string }
  | { readonly kind: 'phone'; readonly max: number }
  | { readonly kind: 'currency' }
  | { readonly kind: 'amount' }
  | {
      readonly kind: 'choice';
      readonly values: readonly string[];
      /** Spanish words for the values. Each is allowed under every name of the field (D9). */
      readonly spanish?: Readonly<Record<string, string>>;
      readonly integers?: boolean;
      /** The meaning of each value that does not explain itself, for the documentation. */
      readonly meanings?: Readonly<Record<string, Words>>;
    }
  | { readonly kind: 'consent' }
  /** What the partner tells beside the application: it is never required, and changes no outcome (D53). */
  | { readonly kind: 'note'; readonly max: number }
  | { readonly kind: 'instant'; readonly max: number };

export interface Field {
  /** The documented English name. */
  readonly name: string;
  /** The Spanish names. Spanish answers use the first. */
  readonly aliases: readonly [string, ...string[]];
  readonly rule: Rule;
  /** The meaning of the field, for the documentation. */
  readonly about: Words;
  /** A valid example value, for the documentation. */
  readonly example: string | number | boolean;
  /** True if the value has a column of its own. Other values are part of the sealed personal record. */
  readonly column?: true;
}

export const FIELDS = [
  {
    name: 'name',
    aliases: ['nombre'],
    rule: { kind: 'text', max: 200 },
    about: { en: 'Full name of the applicant', es: 'Nombre completo del solicitante' },
    example: 'Ana Gómez',
  },
  {
    name: 'id_number',
    aliases: ['cedula'],
    rule: { kind: 'text', max: 64 },
    about: {
      en: 'National ID number; comes back in the answer so that you can pair it',
      es: 'Número de identificación; vuelve en la respuesta para que puedas emparejarla',
    },
    example: '1020304050',
  },
  {
    name: 'city',
    aliases: ['ciudad'],
    rule: { kind: 'text', max: 120 },
    about: { en: 'City of residence', es: 'Ciudad de residencia' },
    example: 'Bogotá',
  },
  {
    name: 'phone',
    aliases: ['telefono'],
    rule: { kind: 'phone', max: 32 },
    about: {
      en: 'Phone with country code: where messages go, how duplicates are found, and what tells the currency if you send none',
      es: 'Teléfono con código de país: adonde van los mensajes, con lo que se detectan duplicados y de donde se deduce la moneda si no la envías',
    },
    example: '+57 300 555 0101',
  },
  {
    name: 'platform',
    aliases: ['plataforma'],
    rule: { kind: 'label', max: 64, fallback: 'gig' },
    about: { en: 'Platform where the applicant works', es: 'Plataforma donde trabaja el solicitante' },
    example: 'rappi',
    column: true,
  },
  {
    name: 'currency',
    aliases: ['moneda'],
    rule: { kind: 'currency' },
    about: { en: 'Currency of both amounts', es: 'Moneda de los dos montos' },
    example: 'COP',
    column: true,
  },
  {
    name: 'income',
    aliases: ['ingreso', 'ingreso_cop'],
    rule: { kind: 'amount' },
    about: { en: 'Monthly income on your platform', es: 'Ingreso mensual en tu plataforma' },
    example: 3_200_000,
    column: true,
  },
  {
    name: 'debt_amount',
    aliases: ['monto_deuda', 'monto_deuda_cop'],
    rule: { kind: 'amount' },
    about: { en: 'Debt to consolidate', es: 'Deuda por consolidar' },
    example: 6_000_000,
    column: true,
  },
  {
    name: 'num_debts',
    aliases: ['num_deudas'],
    rule: { kind: 'choice', values: NUM_DEBTS, integers: true },
    about: { en: 'How many debts are overdue', es: 'Cuántas deudas están en mora' },
    example: '1',
    column: true,
  },
  {
    name: 'debt_age',
    aliases: ['antiguedad_mora'],
    rule: {
      kind: 'choice',
      values: DEBT_AGES,
      meanings: {
        lt6: { en: 'less than 6 months overdue', es: 'menos de 6 meses en mora' },
        '6a12': { en: '6 to 12 months', es: 'de 6 a 12 meses' },
        '1a2': { en: '1 to 2 years', es: 'de 1 a 2 años' },
        gt2: { en: 'more than 2 years', es: 'más de 2 años' },
      },
    },
    about: { en: 'How long the debt has been overdue', es: 'Antigüedad de la mora' },
    example: 'lt6',
    column: true,
  },
  {
    name: 'prior_history',
    aliases: ['historial_previo'],
    rule: { kind: 'choice', values: PRIOR_HISTORIES, spanish: { si: 'yes', no: 'no' } },
    about: { en: 'Has a payment history from before', es: 'Tiene historial de pago previo' },
    example: 'yes',
    column: true,
  },
  {
    name: 'messaging_optin',
    aliases: ['optin_messaging'],
    rule: { kind: 'consent' },
    about: {
      en: 'The applicant agreed to be contacted through the messaging channel; only with `true` is anything sent',
      es: 'El solicitante aceptó ser contactado por el canal de mensajería; solo con `true` se le escribe',
    },
    example: true,
    column: true,
  },
  {
    name: 'consent_at',
    aliases: ['consentimiento_fecha'],
    rule: { kind: 'instant', max: 40 },
    about: {
      en: 'When the applicant gave you the consent to pass their data on',
      es: 'Cuándo te autorizó el solicitante a entregar sus datos',
    },
    example: '2026-11-20T14:05:00-05:00',
  },
  {
    name: 'consent_text',
    aliases: ['consentimiento_texto'],
    rule: { kind: 'note', max: 500 },
    about: { en: 'The words of that consent', es: 'El texto de esa autorización' },
    example: 'I agree that my application is passed on to the lender.',
  },
  {
    name: 'consent_channel',
    aliases: ['consentimiento_canal'],
    rule: { kind: 'note', max: 64 },
    about: { en: 'How it was given, such as `app` or `web`', es: 'Cómo se dio, por ejemplo `app` o `web`' },
    example: 'app',
  },
] as const satisfies readonly Field[];

type FieldEntry = (typeof FIELDS)[number];
export type FieldName = FieldEntry['name'];

type ValueOf<R extends Rule> = R extends { kind: 'choice'; values: readonly (infer V)[] }
  ? V
  : R extends { kind: 'amount' }
    ? number
    : R extends { kind: 'consent' }
      ? boolean
      : R extends { kind: 'phone' }
        ? Phone | null
        : R extends { kind: 'currency' }
          ? Currency
          : R extends { kind: 'note' | 'instant' }
            ? string | null
            : string;

/** An entry of a field about the partner's own consent. */
type NotedEntry = Extract<FieldEntry, { rule: { kind: 'note' | 'instant' } }>;

/** A valid application in its normal form: `phone` in E.164 or null, amounts finite and > 0. */
export type Application = { [E in Exclude<FieldEntry, NotedEntry> as E['name']]: ValueOf<E['rule']> } & {
  [E in NotedEntry as E['name']]?: ValueOf<E['rule']>;
};

/** The fields about the partner's own consent (D53). Envelopes from before they existed do not have them. */
export const NOTED_FIELDS: readonly FieldName[] = (FIELDS as readonly (Field & { name: FieldName })[])
  .filter(({ rule }) => rule.kind === 'note' || rule.kind === 'instant')
  .map(({ name }) => name);

/** A field with all its names. */
export interface NamedField extends Field {
  readonly name: FieldName;
  /** Every name under which the field is read, in the order of precedence (D5, D6). */
  readonly names: readonly string[];
}

/**
 * The fields, each with every name under which it is read. `consentChannel` is the third-party channel's name in two
 * names of the consent field (D6).
 */
export function namedFields(consentChannel: string): readonly NamedField[] {
  return FIELDS.map((field: Field & { readonly name: FieldName }) => {
    const names = [field.name, ...field.aliases];
    if (field.rule.kind === 'consent') names.push(`${consentChannel}_optin`, `optin_${consentChannel}`);
    return { ...field, names: [...new Set(names)] };
  });
}
