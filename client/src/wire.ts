/**
 * The types of what goes to the service and what comes back, in this package's names. They are written by hand, because
 * the package has no dependencies. The repository's tests compare them with the tables that the service runs on.
 */

/** How many debts are overdue; the service takes integers too. */
export type NumDebts = '1' | '2' | '3';
/** How long debts are overdue: under 6 months, 6 to 12 months, 1 to 2 years, over 2 years. */
export type DebtAge = 'lt6' | '6a12' | '1a2' | 'gt2';
/** Whether the applicant has a history of payments. */
export type PriorHistory = 'yes' | 'no';
/** The decision that follows from the score. */
export type Decision = 'approved' | 'in_review' | 'rejected';
/** The status that an application begins with. */
export type Status = 'pending_signature' | 'in_review' | 'rejected';
/** The status of an application now. `rejected` and `disbursed` are final. */
export type ApplicationStatus = Status | 'disbursed';
/** Why an operator changed the status. A newer service may know more codes. */
export type ReasonCode =
  | 'documents_verified'
  | 'income_verified'
  | 'exception_granted'
  | 'documents_missing'
  | 'documents_invalid'
  | 'identity_not_verified'
  | 'income_not_verified'
  | 'insufficient_capacity'
  | 'suspected_fraud'
  | 'applicant_withdrew'
  | 'contract_withdrawn'
  | 'offer_expired'
  | 'data_erased'
  | 'funds_transferred'
  | 'unspecified';

/** The limit that rejected an application at its registration. */
export type LimitCode = 'amount_above_limit' | 'installment_above_income';
/** The type of the message to the applicant. */
export type MessageType = 'approved' | 'offer' | 'rejected';

/**
 * One credit application. The service trims texts, and reads capitals and numeric texts as its documentation says. It
 * ignores unknown fields and takes null for absent.
 */
export interface Application {
  /** Full name of the applicant, at most 200 characters. */
  name: string;
  /** National ID number, at most 64 characters. */
  id_number: string;
  /** City of residence, at most 120 characters. */
  city: string;
  /** With country code. Without a phone the applicant gets no message and no duplicate is found. */
  phone?: string | null;
  /** The partner platform; default `gig`. */
  platform?: string | null;
  /** ISO 4217 code of both amounts; by default inferred from the phone. */
  currency?: string | null;
  /** Monthly income, above 0. */
  income: number | string;
  /** Debt to consolidate, above 0. */
  debt_amount: number | string;
  num_debts: NumDebts | 1 | 2 | 3;
  debt_age: DebtAge;
  prior_history: PriorHistory;
  /** The applicant's explicit consent to messages. Without consent the applicant gets none. */
  messaging_optin: boolean;
  /** When the applicant gave you the consent to pass their data on: ISO 8601. Changes no outcome, as the next two. */
  consent_at?: string | null;
  /** The words of that consent: at most 500 characters. */
  consent_text?: string | null;
  /** How it was given: at most 64 characters. */
  consent_channel?: string | null;
}

/** The message that `/PRO` would have sent. */
export interface WouldNotify {
  type: MessageType;
  /** E.164. */
  destination: string;
  template: string;
}

/** The application was registered; on `/DEV` it would have been. */
export interface Registered {
  kind: 'registered';
  /** The service's identifier; null on `/DEV`. */
  id: number | null;
  /** The ID number as the service echoes it, trimmed. */
  idNumber: string;
  name: string;
  /** 0 to 100. */
  score: number;
  decision: Decision;
  status: Status;
  /** True on `/DEV`, where nothing is stored or sent. */
  simulated: boolean;
  /** Only on `/DEV`, and only where `/PRO` would have sent a message. */
  wouldNotify?: WouldNotify;
}

/**
 * Not registered: an open application has the same phone (`duplicate`), or fields are at fault (`invalid`). `error` is
 * the service's text, in Spanish where the operator pinned the key to Spanish.
 */
export interface Refused {
  kind: 'duplicate' | 'invalid';
  /** The ID number as the service read it; null where it was absent or no text. */
  idNumber: string | null;
  error: string;
  /** The fields at fault; empty for a duplicate, for an element that is no object, and where the service is older. */
  fields: FieldError[];
}

/** A field at fault. */
export interface FieldError {
  /** The documented English name. */
  name: string;
  /** The name that was sent; null where the field is absent. */
  sentAs: string | null;
  /** The rule that it breaks. A newer service may know more codes. */
  code: FieldCode | (string & Record<never, never>);
}

/** The rule that a field breaks. */
export type FieldCode = 'required' | 'amount' | 'choice' | 'consent' | 'phone' | 'text' | 'instant';

/**
 * Not registered: the daily quota was used up. Send the application again when there is room
 * (`VentanillaClient.quota`).
 */
export interface QuotaExceeded {
  kind: 'quota_exceeded';
  idNumber: string | null;
  error: string;
  /** What remains of the quota after the batch. */
  remaining: number;
  dailyCap: number;
}

/** The outcome of one application. */
export type Outcome = Registered | Refused | QuotaExceeded;

/** Where the partner stands with its quota. */
export interface Quota {
  partnerName: string;
  /** ISO 3166 code. */
  partnerCountry: string;
  /** Applications in any 24 hours; null where the key has no cap. */
  dailyCap: number | null;
  /** Applications registered in the last 24 hours, by all the partner's keys. */
  used24h: number;
  /** null where the key has no cap. */
  remaining: number | null;
  /** Seconds until more is free; null where the key has no cap, nothing is used, or the service is older. */
  resetSeconds: number | null;
  /** ISO 8601 with a UTC offset. */
  fetchedAt: string;
}

/** What an answer tells of the key's daily cap. */
export interface QuotaLeft {
  /** Applications that the cap still allows, after the batch. */
  remaining: number;
  /** Seconds until more is free; null where nothing is used. */
  resetSeconds: number | null;
}

/** Where an application stands now. */
export interface ApplicationState {
  id: number;
  /** null where the applicant's data was erased. */
  idNumber: string | null;
  /** 0 to 100. */
  score: number;
  /** The decision at the registration. A review moves `status` alone. */
  decision: Decision;
  status: ApplicationStatus;
  /**
   * Why it has this status: the code of the last review, or the limit that rejected it at its registration; null where
   * the score alone decided. A newer service may know more codes.
   */
  reasonCode: ReasonCode | LimitCode | (string & Record<never, never>) | null;
  /**
   * Up to four reasons of a decision that is no approval, the most important first, as they were at the registration.
   * Empty for an approval, and where the service is older than 1.1.
   */
  reasonCodes: string[];
  /** When the applicant signed the contract, as `createdAt` is written; it stays after a withdrawal. */
  signedAt: string | null;
  /** When the applicant withdrew from the signed contract. */
  withdrawnAt: string | null;
  /** ISO 8601 with a UTC offset. */
  createdAt: string;
  /** The time of the last entry in the history, a review or the applicant's interest; without one as `createdAt`. */
  updatedAt: string;
}
