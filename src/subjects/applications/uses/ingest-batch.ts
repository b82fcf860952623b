/**
 * Takes in a batch: reads, scores and decides each element, and registers the valid ones (D14-D19, D36, D38, D51;
 * ARCHITECTURE, "A request's way"). Writes the store through the registrar, and takes
 * those who were not registered out of the envelope afterwards; on DEV it writes nothing.
 */
import type { NamedField } from '../../../domain/application/fields.ts';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Outcome, Registered } from '../../../domain/application/read-application.ts';
import { readApplication } from '../../../domain/application/read-application.ts';
import { forcedOutcome, SANDBOX_DAILY_CAP, SandboxFailure } from '../../../domain/application/sandbox.ts';
import { messageType, templateKindOf } from '../../../domain/message/notify.ts';
import type { Credential, Environment, KeyId } from '../../../domain/partner/credential.ts';
import type { DecidingPolicy, LivePolicySource } from '../../../domain/scorecard/scorecard.ts';
import type { Language } from '../../../ground/base/language.ts';
import { UnavailableError } from '../../../ground/base/registration-failure.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { type AssessedOutcome, decodeDraft, encodeDraft } from '../sql/draft.ts';
import { rewriteEnvelope } from '../sql/envelope.ts';
import { type Candidate, type PreparedBatch, prepareBatch } from '../sql/prepared-batch.ts';
import type { Registrar } from '../sql/registration.ts';
import type { RegisteredBatch, Verdict } from '../sql/registration-sql.ts';

interface IngestContext {
  readonly database: Database;
  readonly fields: readonly NamedField[];
  readonly policies: LivePolicySource;
  readonly vault: Vault;
  readonly registrar: Pick<Registrar, 'register'>;
  /** Called with the outcomes of each batch on PRO that is answered and is not a replay. */
  readonly onAnswered: (keyId: KeyId, outcomes: readonly Outcome[]) => void;
  /** Called after a batch that registered nothing and whose answer is remembered (D36). */
  readonly onRemembered: (keyId: KeyId) => void;
}

export interface BatchRequest {
  readonly credential: Credential;
  readonly environment: Environment;
  readonly elements: readonly unknown[];
  readonly language: Language;
  readonly idempotencyKey: string | null;
  readonly body: Buffer;
  /** On `Clock.monotonicMs`. */
  readonly deadline: number;
}

export type BatchResult =
  | {
      readonly kind: 'answered';
      readonly outcomes: readonly Outcome[];
      /** The language of the first answer if this is a replay. */
      readonly language: Language;
      readonly replayed: boolean;
    }
  | Extract<Verdict, { readonly kind: 'dead_key' }>
  | { readonly kind: 'idempotency_reuse' };

/** Activations during one request; a batch that meets more of them gets no answer. */
const MOST_CHANGES = 5;

/**
 * The outcomes in the order of the batch. On PRO they are stored when this resolves; DEV stores nothing (D19). One
 * policy decides the whole batch: on PRO the live one at its registration (D51). Throws what `Registrar.register`
 * throws, and `SandboxFailure` if a sandbox phone asks for it (D38).
 */
export async function ingestBatch(context: IngestContext, request: BatchRequest): Promise<BatchResult> {
  const { policies } = context;
  if (request.environment === 'DEV') {
    await policies.refresh();
    return simulateBatch(context, request);
  }
  for (let changes = 0; changes < MOST_CHANGES; changes += 1) {
    const result = await registerBatch(context, policies.now, request);
    if (result !== null) return result;
    await policies.refresh();
  }
  throw new UnavailableError('another policy was activated again and again');
}

function simulateBatch(context: IngestContext, request: BatchRequest): BatchResult {
  const { assessed, candidates } = assessBatch(context, context.policies.now.card, request);
  const outcomes: Outcome[] = assessed;
  for (const candidate of candidates) outcomes[candidate.position] = simulate(candidate, request.credential);
  return { kind: 'answered', outcomes, language: request.language, replayed: false };
}

/** Registers a batch as a policy decides it; null: another policy is live by now. */
async function registerBatch(
  context: IngestContext,
  { id: policyId, card }: DecidingPolicy,
  request: BatchRequest,
): Promise<BatchResult | null> {
  const { assessed, candidates } = assessBatch(context, card, request);
  const { credential, idempotencyKey, language, body } = request;
  if (candidates.length === 0 && idempotencyKey === null) return answer(context, request, assessed);
  const { keyId } = credential;
  const idempotency =
    idempotencyKey === null
      ? null
      : { key: idempotencyKey, body, draft: encodeDraft({ language, outcomes: assessed }) };
  const batch = prepareBatch(context.vault, { keyId, policyId }, candidates, idempotency);
  const verdict = await context.registrar.register(batch, request.deadline);
  switch (verdict.kind) {
    case 'done':
      forgetRefused(context, batch, verdict.batch);
      if (idempotency !== null && !verdict.batch.hasRegistered(candidates)) context.onRemembered(keyId);
      return answer(context, request, conclude(assessed, verdict));
    case 'replay': {
      const first = decodeDraft(verdict.draft, request.elements, context.fields);
      const replayed = conclude(first.outcomes, verdict);
      return { kind: 'answered', outcomes: replayed, language: first.language, replayed: true };
    }
    case 'dead_key':
    case 'idempotency_reuse':
      return verdict;
    case 'policy_changed':
      return null;
    case 'alone':
      throw new Error('the registrar answers for batches that go alone');
  }
}

function answer(
  { onAnswered }: IngestContext,
  { credential, language }: BatchRequest,
  outcomes: readonly Outcome[],
): BatchResult {
  onAnswered(credential.keyId, outcomes);
  return { kind: 'answered', outcomes, language, replayed: false };
}

/**
 * Removes the applicants who were not registered from the batch's envelope. The answer does not wait for this; if it
 * fails, the upkeep does it.
 */
function forgetRefused(
  { database, vault }: IngestContext,
  { id: sealId, candidates }: PreparedBatch,
  batch: RegisteredBatch,
): void {
  const registered = candidates.filter(({ position }) => batch.isRegistered(position));
  if (registered.length === 0 || registered.length === candidates.length) return;
  rewriteEnvelope(database, vault, { id: batch.id, sealId }, registered, null).catch(() => {});
}

/** The outcome of each element as if all candidates register, and the candidates. */
function assessBatch(
  { fields }: IngestContext,
  card: DecidingPolicy['card'],
  { credential, environment, elements }: BatchRequest,
) {
  const candidates: Candidate[] = [];
  const assessed = elements.map((element, position): AssessedOutcome => {
    const reading = readApplication(element, fields, credential.partner.country, environment);
    if (reading.kind !== 'valid') return reading;
    const { application } = reading;
    const assessment = card.decide(application);
    const candidate = {
      position,
      application,
      assessment,
      messageType: messageType(application, assessment.decision),
    };
    candidates.push(candidate);
    return registered(candidate, null);
  });
  return { assessed, candidates };
}

function registered({ application, assessment }: Candidate, id: ApplicationId | null): Registered {
  const { id_number: idNumber, name } = application;
  return {
    kind: 'registered',
    idNumber,
    name,
    id,
    score: assessment.score,
    decision: assessment.decision,
  };
}

/** Puts the result that the registering statement gave each candidate at the candidate's position. */
function conclude(
  outcomes: readonly AssessedOutcome[],
  { batch, dailyCap }: Verdict & { kind: 'done' | 'replay' },
): Outcome[] {
  return outcomes.map((outcome, position): Outcome => {
    if (outcome.kind !== 'registered') return outcome;
    const { idNumber, name, score, decision } = outcome;
    const stored = batch.outcomeAt(position);
    if (stored.kind === 'registered') {
      return { kind: 'registered', idNumber, name, id: stored.id, score, decision };
    }
    if (stored.kind === 'duplicate') return { kind: 'duplicate', idNumber };
    // Earlier applications of the batch used the rest of the cap (D16), so nothing remains after the batch.
    return { kind: 'over_quota', idNumber, remaining: 0, dailyCap: dailyCap ?? 0 };
  });
}

/** The outcome on DEV: every valid application registers, except for sandbox phones (D19, D38). */
function simulate(candidate: Candidate, { dailyCap, templates, rejectedReasons }: Credential): Outcome {
  const { application } = candidate;
  const { id_number: idNumber, phone } = application;
  const forced = forcedOutcome(phone);
  if (forced?.kind === 'unavailable') throw new SandboxFailure();
  if (forced?.kind === 'duplicate') return { kind: 'duplicate', idNumber };
  if (forced?.kind === 'over_quota') {
    return { kind: 'over_quota', idNumber, remaining: 0, dailyCap: dailyCap ?? SANDBOX_DAILY_CAP };
  }
  const { score, decision } = forced ?? candidate.assessment;
  const outcome: Registered = { ...registered(candidate, null), score, decision };
  const type = messageType(application, decision);
  if (type === null || phone === null) return outcome;
  const template = templates[templateKindOf(type, rejectedReasons)];
  return { ...outcome, wouldNotify: { type, destination: phone, template } };
}
