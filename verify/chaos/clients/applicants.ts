/** The applicants of a run: some share a phone with others, some are invalid, and all decisions occur. */
import type { Decision } from '../../../src/domain/scorecard/scorecard.ts';
import { IN_REVIEW, MEXICAN } from '../../../test/support/applicant.ts';
import type { Random } from '../../../test/support/random.ts';
import type { SentApplication } from '../../history/history.ts';

/** Phones that applicants of different batches share. */
const SHARED_PHONES = 200;
const SHARED_SHARE = 0.1;
/** Phones whose applications are all rejected, so that each of them may register and tell a rejection (D42). */
const REFUSED_PHONES = 3;
const REFUSED_SHARE = 0.03;
/** Applicants who opted out before. */
const AGAIN_SHARE = 0.03;
/** Phones that may opt out: those of the newest applicants, and few of those that an open application may hold. */
const MOST_REMEMBERED = 300;
const HELD_SHARE = 0.05;
const INVALID_SHARE = 0.03;
const OPTIN_SHARE = 0.6;
/** Each has ten series of phones. */
const AREAS = ['55', '33', '81'];
/** Above the limit of every policy (D29). */
const TOO_MUCH = 90_000_000;

const DECISIONS: readonly Decision[] = [
  'approved',
  'approved',
  'approved',
  'in_review',
  'in_review',
  'rejected',
];
const FIELDS: Readonly<Record<Decision, object>> = {
  approved: {},
  in_review: IN_REVIEW,
  rejected: { debt_amount: TOO_MUCH },
};

export interface Applicants {
  /** As the rules know them. */
  readonly sent: readonly SentApplication[];
  /** As they are sent. */
  readonly elements: readonly object[];
}

/** Makes applicants whose ID numbers occur once in a run. */
export class ApplicantMaker {
  readonly #series: number;
  readonly #phones: string[] = [];
  /** Phones that opted out. */
  readonly optedOut: string[] = [];
  #serial = 0;

  /** `series`, from 0 to 29: makers with different ones share no phone and no ID number. */
  constructor(series = 0) {
    this.#series = series;
  }

  /** `areAllNew`: nothing stands against any of them. */
  make(count: number, areAllNew: boolean, random: Random): Applicants {
    const made = Array.from({ length: count }, () => this.#makeOne(areAllNew, random));
    return { sent: made.map(({ sent }) => sent), elements: made.map(({ element }) => element) };
  }

  /** The phone of one of the newest applicants; null: there is none yet. */
  somebody(random: Random): string | null {
    return this.#phones[random.between(0, Math.max(0, this.#phones.length - 1))] ?? null;
  }

  #phoneOf(line: number): string {
    return `+52${AREAS[Math.floor(this.#series / 10)]}${this.#series % 10}${String(line).padStart(7, '0')}`;
  }

  /** One that others have too, or a new one. */
  #anyPhone(random: Random): string {
    if (this.optedOut.length > 0 && random.isLucky(AGAIN_SHARE)) {
      return this.optedOut[random.between(0, this.optedOut.length - 1)]!;
    }
    if (random.isLucky(SHARED_SHARE)) return this.#phoneOf(random.between(0, SHARED_PHONES - 1));
    return this.#phoneOf(1_000 + this.#serial);
  }

  #makeOne(isNew: boolean, random: Random) {
    this.#serial += 1;
    const isRefused = !isNew && random.isLucky(REFUSED_SHARE);
    const decision = isRefused ? 'rejected' : DECISIONS[random.between(0, DECISIONS.length - 1)]!;
    const refused = () => this.#phoneOf(SHARED_PHONES + random.between(0, REFUSED_PHONES - 1));
    const other = () => (isNew ? this.#phoneOf(1_000 + this.#serial) : this.#anyPhone(random));
    const phone = isRefused ? refused() : other();
    if (!isRefused && (decision === 'rejected' || random.isLucky(HELD_SHARE))) this.#phones.push(phone);
    if (this.#phones.length > MOST_REMEMBERED) this.#phones.shift();
    const isInvalid = !isNew && random.isLucky(INVALID_SHARE);
    const sent = {
      idNumber: `1${String(this.#series).padStart(2, '0')}${String(this.#serial).padStart(8, '0')}`,
      phone,
      optin: isRefused || random.isLucky(OPTIN_SHARE),
      decision: isInvalid ? null : decision,
    };
    const element = {
      ...{ ...MEXICAN, ...FIELDS[decision] },
      ...{ id_number: sent.idNumber, phone: sent.phone, messaging_optin: sent.optin },
      ...(isInvalid ? { num_debts: '9' } : {}),
    };
    return { sent, element };
  }
}
