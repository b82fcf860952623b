/**
 * Sandbox scenarios: reserved phones, each of which forces one outcome on POST /DEV, so that a partner can see
 * every outcome that has to be handled (D38). All begin with a country code that nobody has; production refuses
 * every such number. The documentation is made from this table.
 */

import type { Language } from '../language.ts';
import { UnavailableError } from '../registration-failure.ts';
import type { Decision } from '../scoring/scorecard.ts';
import type { Phone } from './phone.ts';

/** What a reserved phone forces on an application that is valid otherwise. */
export type ForcedOutcome =
  | { readonly kind: 'registered'; readonly decision: Decision; readonly score: number }
  | { readonly kind: 'duplicate' }
  /** Nothing remains of the key's own cap, or of `SANDBOX_DAILY_CAP` where it has none. */
  | { readonly kind: 'quota' }
  /** The whole request is answered as where the database is gone (D37). */
  | { readonly kind: 'unavailable' };

export interface SandboxScenario {
  /** E.164. */
  readonly phone: string;
  readonly outcome: ForcedOutcome;
  /** What the partner sees, for the documentation. */
  readonly description: Readonly<Record<Language, string>>;
}

const RESERVED_PREFIX = '+990';

/** The cap that the quota scenario tells of where the key has none. */
export const SANDBOX_DAILY_CAP = 100;

/** The last three digits recall an HTTP status of about the same meaning; the scores lie in the contract's bands. */
export const SANDBOX_SCENARIOS: readonly SandboxScenario[] = [
  {
    phone: '+9900200',
    outcome: { kind: 'registered', decision: 'approved', score: 85 },
    description: {
      en: 'Approved with score 85; with consent, `would_notify` of type `approved`',
      es: 'Aprobada con puntaje 85; con consentimiento, `would_notify` de tipo `approved`',
    },
  },
  {
    phone: '+9900202',
    outcome: { kind: 'registered', decision: 'in_review', score: 55 },
    description: {
      en: 'In review with score 55; with consent, `would_notify` of type `offer`',
      es: 'En revisión con puntaje 55; con consentimiento, `would_notify` de tipo `offer`',
    },
  },
  {
    phone: '+9900406',
    outcome: { kind: 'registered', decision: 'rejected', score: 20 },
    description: {
      en: 'Rejected with score 20; with consent, `would_notify` of type `rejected`',
      es: 'Rechazada con puntaje 20; con consentimiento, `would_notify` de tipo `rejected`',
    },
  },
  {
    phone: '+9900409',
    outcome: { kind: 'duplicate' },
    description: {
      en: 'Refused as a duplicate: the phone has an open application',
      es: 'No se registra por duplicada: el teléfono ya tiene una solicitud abierta',
    },
  },
  {
    phone: '+9900429',
    outcome: { kind: 'quota' },
    description: {
      en: `Refused because the quota is used up: \`remaining\` 0 and the key's \`daily_cap\` (${SANDBOX_DAILY_CAP} where it has none)`,
      es: `No se registra porque la cuota está agotada: \`restante\` 0 y el \`cap_diario\` de la clave (${SANDBOX_DAILY_CAP} si no tiene)`,
    },
  },
  {
    phone: '+9900500',
    outcome: { kind: 'unavailable' },
    description: {
      en: 'The whole request fails with 500 and `Retry-After`, whatever else is in the batch',
      es: 'Toda la petición falla con 500 y `Retry-After`, sin importar qué más haya en el lote',
    },
  },
];

const OUTCOMES: ReadonlyMap<string | null, ForcedOutcome> = new Map(
  SANDBOX_SCENARIOS.map(({ phone, outcome }) => [phone, outcome]),
);

/** The failure that a scenario forces: answered as any `UnavailableError`, but no trouble of the service. */
export class SandboxFailure extends UnavailableError {}

/** What POST /DEV makes of a valid application's phone (E.164 or null); null where that is nothing special. */
export function forcedOutcome(phone: Phone | null): ForcedOutcome | null {
  return OUTCOMES.get(phone) ?? null;
}

/** True for every E.164 number that production refuses because it is kept for the sandbox. */
export function isReservedPhone(e164: string): boolean {
  return e164.startsWith(RESERVED_PREFIX);
}
