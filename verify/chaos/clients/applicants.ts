/** The applicants of a run: some share a phone with others, some are invalid, and all decisions occur. */
import type { Decision } from '../../../src/applications/rules/scorecard.ts';
import { IN_REVIEW, MEXICAN } from '../../../test/support/applicant.ts';
import type { Random } from '../../../test/support/random.ts';
import type { SentApplication } from '../../history/history.ts';

/** Phones that applicants of different batches share. */
const SHARED_PHONES = 200;
const SHARED_SHARE = 0.1;
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

  #makeOne(isNew: boolean, random: Random) {
    this.#serial += 1;
    const isShared = !isNew && random.isLucky(SHARED_SHARE);
    const line = isShared ? random.between(0, SHARED_PHONES - 1) : 1_000 + this.#serial;
    const decision = DECISIONS[random.between(0, DECISIONS.length - 1)]!;
    const isInvalid = !isNew && random.isLucky(INVALID_SHARE);
    const sent = {
      idNumber: `1${String(this.#series).padStart(2, '0')}${String(this.#serial).padStart(8, '0')}`,
      phone: `+52${AREAS[Math.floor(this.#series / 10)]}${this.#series % 10}${String(line).padStart(7, '0')}`,
      optin: random.isLucky(OPTIN_SHARE),
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
