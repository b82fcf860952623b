/** Takes in a batch: reads, scores and decides each element, and registers what is valid. */

import type { NamedField } from '../domain/application/fields.ts';
import type { Outcome, Refusal, Registered } from '../domain/application/outcome.ts';
import { readApplication } from '../domain/application/read-application.ts';
import { forcedOutcome, SANDBOX_DAILY_CAP, SandboxFailure } from '../domain/application/sandbox.ts';
import type { Language } from '../domain/language.ts';
import { messageType } from '../domain/message/notify.ts';
import type { Credential, Environment } from '../domain/partner/credential.ts';
import type { Policy } from '../domain/scoring/policy.ts';
import { assess, type Decision } from '../domain/scoring/scorecard.ts';
import type { Candidate } from '../storage/candidate.ts';
import type { Database } from '../storage/database.ts';
import { draftIdentity, type PreparedBatch, prepareBatch } from '../storage/prepared-batch.ts';
import type { Registrar } from '../storage/registration.ts';
import {
  DUPLICATE,
  OVER_QUOTA,
  type Outcomes as StoredOutcomes,
  type Verdict,
} from '../storage/registration-sql.ts';
import { keepRegistered } from '../storage/surplus.ts';
import type { Vault } from '../storage/vault.ts';

export interface IngestContext {
  readonly database: Database;
  readonly fields: readonly NamedField[];
  readonly policy: Policy;
  readonly vault: Vault;
  readonly registrar: Registrar;
  /** Hears of each batch on PRO that was answered, but for replays. */
  readonly onAnswered: (keyId: number, outcomes: readonly Outcome[]) => void;
}

export interface BatchRequest {
  readonly credential: Credential;
  readonly environment: Environment;
  readonly elements: readonly unknown[];
  readonly language: Language;
  readonly idempotencyKey: string | null;
  readonly body: Buffer;
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
}

export type BatchResult =
  | {
      readonly kind: 'answered';
      readonly outcomes: readonly Outcome[];
      /** That of the first answer where this is a replay. */
      readonly language: Language;
      readonly replayed: boolean;
    }
  | { readonly kind: 'key_died' }
  | { readonly kind: 'idempotency_reuse' };

/** An element's part of the answer before it is known whether the element registers. */
type Entry =
  | Refusal
  | {
      readonly kind: 'candidate';
      readonly idNumber: string;
      readonly name: string;
      readonly score: number;
      readonly decision: Decision;
    };

/** What a replay is rendered from (D36). */
interface Draft {
  readonly language: Language;
  readonly entries: readonly Entry[];
}

/**
 * Outcomes in submission order. On PRO they are stored when this resolves; on DEV nothing is touched (D19).
 * Throws what `Registrar.register` throws, and `SandboxFailure` where a phone of the sandbox asks for it (D38).
 */
export async function ingestBatch(context: IngestContext, request: BatchRequest): Promise<BatchResult> {
  const { entries, candidates } = assessBatch(context, request);
  const { language } = request;
  if (request.environment === 'DEV') {
    return { kind: 'answered', outcomes: simulate(entries, candidates, request), language, replayed: false };
  }
  if (candidates.length === 0 && request.idempotencyKey === null) {
    return answer(context, request, entries as Refusal[]);
  }
  const draft: Draft = { language, entries };
  const { keyId } = request.credential;
  const batch = prepareBatch(
    context.vault,
    keyId,
    candidates,
    request.idempotencyKey === null
      ? null
      : { key: request.idempotencyKey, body: request.body, draft: JSON.stringify(draft) },
  );
  const verdict = await context.registrar.register(batch, request.deadline);
  switch (verdict.kind) {
    case 'done':
      forgetRefused(context, batch, verdict.outcomes);
      return answer(context, request, conclude(entries, verdict));
    case 'replay': {
      const identity = draftIdentity(keyId, batch.idempotency?.digest ?? '');
      const first = JSON.parse(context.vault.open(verdict.draft, identity).toString()) as Draft;
      const outcomes = conclude(first.entries, verdict);
      return { kind: 'answered', outcomes, language: first.language, replayed: true };
    }
    case 'dead_key':
      return { kind: 'key_died' };
    case 'mismatch':
      return { kind: 'idempotency_reuse' };
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
 * Takes the data of those who were not registered out of the batch's envelope. Nobody waits for it: should
 * it fail, the upkeep does it.
 */
function forgetRefused({ database, vault }: IngestContext, batch: PreparedBatch, outcomes: StoredOutcomes) {
  const registered = batch.candidates.filter(({ position }) => outcomes.at(position) > 0);
  if (registered.length === 0 || registered.length === batch.candidates.length) return;
  keepRegistered(database, vault, outcomes.batchNumber, batch.id, registered).catch(() => {});
}

function assessBatch(context: IngestContext, request: BatchRequest) {
  const entries: Entry[] = [];
  const candidates: Candidate[] = [];
  const { credential, environment } = request;
  for (const [position, element] of request.elements.entries()) {
    const reading = readApplication(element, context.fields, credential.partner.country, environment);
    if (reading.kind !== 'valid') {
      entries.push(reading);
      continue;
    }
    const { application } = reading;
    const assessment = assess(application, context.policy);
    const { score, decision } = assessment;
    const type = messageType(application, decision);
    candidates.push({ position, application, assessment, messageType: type });
    const { id_number: idNumber, name } = application;
    entries.push({ kind: 'candidate', idNumber, name, score, decision });
  }
  return { entries, candidates };
}

/** Puts what became of the candidates where they stood in the batch. */
function conclude(entries: readonly Entry[], verdict: Verdict & { kind: 'done' | 'replay' }): Outcome[] {
  return entries.map((entry, position): Outcome => {
    if (entry.kind !== 'candidate') return entry;
    const outcome = verdict.outcomes.at(position);
    const { idNumber, name, score, decision } = entry;
    if (outcome === DUPLICATE) return { kind: 'duplicate', idNumber };
    // Whatever was left went to those before (D16), so nothing remains after the batch.
    if (outcome === OVER_QUOTA) {
      return { kind: 'quota', idNumber, remaining: 0, dailyCap: verdict.dailyCap as number };
    }
    return { kind: 'registered', idNumber, name, id: outcome, score, decision };
  });
}

/** What DEV answers: everything valid registers, but for the reserved phones (D19, D38). */
function simulate(
  entries: readonly Entry[],
  candidates: readonly Candidate[],
  { credential }: BatchRequest,
): Outcome[] {
  let next = 0;
  return entries.map((entry): Outcome => {
    if (entry.kind !== 'candidate') return entry;
    const { application } = candidates[next++] as Candidate;
    const { idNumber, name } = entry;
    const forced = forcedOutcome(application.phone);
    if (forced?.kind === 'unavailable') throw new SandboxFailure();
    if (forced?.kind === 'duplicate') return { kind: 'duplicate', idNumber };
    if (forced?.kind === 'quota') {
      return { kind: 'quota', idNumber, remaining: 0, dailyCap: credential.dailyCap ?? SANDBOX_DAILY_CAP };
    }
    const { score, decision } = forced ?? entry;
    const type = messageType(application, decision);
    const registered: Registered = { kind: 'registered', idNumber, name, id: null, score, decision };
    if (type === null || application.phone === null) return registered;
    const template = credential.templates[type];
    return { ...registered, wouldNotify: { type, destination: application.phone, template } };
  });
}
