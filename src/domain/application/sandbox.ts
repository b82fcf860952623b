/**
 * Sandbox scenarios: each reserved phone forces one outcome on POST /DEV, so that a partner can rehearse every outcome
 * (D38). All begin with an unassigned country code, and production refuses every such number. `/docs` is made from this
 * table. Pure.
 */

import type { Language } from '../../ground/base/language.ts';
import { UnavailableError } from '../../ground/base/registration-failure.ts';
import type { Phone } from '../phone/phone.ts';
import type { Decision } from '../scorecard/scorecard.ts';

/** The outcome that a reserved phone forces on an otherwise valid application. */
export type ForcedOutcome =
  | { readonly kind: 'registered'; readonly decision: Decision; readonly score: number }
  | { readonly kind: 'duplicate' }
  /** Nothing remains of the key's cap, or of `SANDBOX_DAILY_CAP` for a key without a cap. */
  | { readonly kind: 'over_quota' }
  /** The whole request fails as without a database (D37). */
  | { readonly kind: 'unavailable' };

/** A reserved phone with its forced outcome. */
export interface SandboxScenario {
  /** E.164. */
  readonly phone: string;
  readonly outcome: ForcedOutcome;
  /** The outcome as the partner sees it, for the documentation. */
  readonly description: Readonly<Record<Language, string>>;
}

const RESERVED_PREFIX = '+990';

/** The cap of the quota scenario for a key without a cap. */
export const SANDBOX_DAILY_CAP = 100;

/** The last three digits resemble an HTTP status of a similar meaning. The scores lie in the contract's bands. */
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
    outcome: { kind: 'over_quota' },
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

/** The forced failure. The client gets the answer of any `UnavailableError`, but the service works. */
export class SandboxFailure extends UnavailableError {}

/** The outcome that a valid application's phone (E.164 or null) forces on POST /DEV; null for an ordinary phone. */
export function forcedOutcome(phone: Phone | null): ForcedOutcome | null {
  return OUTCOMES.get(phone) ?? null;
}

/** True for every E.164 number that is reserved for the sandbox. Production refuses them all. */
export function isReservedPhone(e164: string): boolean {
  return e164.startsWith(RESERVED_PREFIX);
}
