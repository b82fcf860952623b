/**
 * Corrects what an application says about its person, for a person who asks for it (docs/subject.md, "Correct"), and
 * records the act. It changes no decision and no signed contract. It ends the time of a contract that is shown and not
 * signed, which has the former data.
 */
import {
  type CorrectableField,
  type CorrectedValue,
  correctableField,
  isPersonalField,
  readCorrection,
} from '../../../domain/application/correction.ts';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { ApplicationStatus } from '../../../domain/application/lifecycle.ts';
import { areDecidable } from '../../../domain/scorecard/card.ts';
import type { Decision, DecisionFacts } from '../../../domain/scorecard/scorecard.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { errorCode } from '../../../ground/base/describe-error.ts';
import { inTransaction, type Transaction } from '../../../ground/postgres/database.ts';
import { acting } from '../../../program/operations/acting.ts';
import {
  checkReason,
  type OperatorContext,
  OperatorError,
} from '../../../program/operations/operator-context.ts';
import { requireIndexKey } from '../../../seal/index-key.ts';
import { addToHistory } from '../../applications/sql/application-marks.ts';
import { readApplications, type StoredApplication } from '../../applications/sql/applications.ts';
import {
  type Correction,
  correctionsOf,
  holdForCorrection,
  writeCorrection,
} from '../../applications/sql/corrections.ts';
import { readLive } from '../../policies/sql/policies.ts';
import { closeShown } from '../../signing/sql/debts.ts';

/** What an operator corrects. */
export interface GivenCorrection {
  readonly field: string;
  readonly value: string;
  readonly reason: string;
}

/** A correction that was done, and what it did not change. */
export interface Corrected {
  readonly correction: number;
  readonly field: CorrectableField;
  readonly status: ApplicationStatus;
  /** The decision was made with the former value, which is a fact of the score. */
  readonly decidedWithOldValue: boolean;
  /**
   * What the live policy would decide with all corrected values, for whoever offers the person a new decision. null:
   * the corrected field is no fact of the score, or no policy is live.
   */
  readonly decisionNow: {
    readonly policy: string;
    readonly score: number;
    readonly decision: Decision;
  } | null;
  /** A signed contract has the former value. */
  readonly signedContractStays: boolean;
}

/** The most corrections of an application. */
const MOST = 50;
/** For how long a correction tries again if others are in its way, such as the upkeep. */
const PATIENCE_MS = 10_000;
const PAUSE_MS = 250;
/** PostgreSQL's code for a wait for a lock that took too long. */
const LOCKED = '55P03';
/** The database's code for a session on a worker of Citus. */
const ON_WORKER = 'VN006';
const LIMIT = "SET LOCAL lock_timeout = '1s'";

/**
 * Corrects one field in one transaction with its record. Throws `OperatorError` that names the field and the rule, or
 * says why the application stays as it is; then nothing is stored.
 */
export async function correctApplication(
  context: OperatorContext,
  id: ApplicationId,
  { field: name, value, reason }: GivenCorrection,
): Promise<Corrected> {
  const why = checkReason(reason);
  const found = correctableField(name);
  if ('rule' in found) throw new OperatorError(`${name.slice(0, 40)} ${found.rule}`);
  const { field } = found;
  const read = readCorrection(field, value);
  if ('rule' in read) throw new OperatorError(`${field} ${read.rule}`);
  const change = { field, after: read.value, reason: why };
  const once = () =>
    acting(
      context,
      (part) => inTransaction(part.database, (session) => correct(part, session, id, change)),
      ({ correction }) => ({
        act: 'subject correct',
        applicationId: id,
        target: `correction ${correction} of ${field}`,
        reason: why,
      }),
    );
  return patiently(context.clock, once);
}

async function patiently<T>(clock: Clock, work: () => Promise<T>): Promise<T> {
  const until = clock.monotonicMs() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (errorCode(error) === ON_WORKER)
        throw new OperatorError('a correction needs the DATABASE_URL of the coordinator of the cluster');
      if (errorCode(error) !== LOCKED) throw error;
      if (clock.monotonicMs() > until)
        throw new OperatorError(
          'the upkeep or another command works on the application: nothing was corrected; try again in a minute',
        );
      await clock.sleep(PAUSE_MS);
    }
  }
}

interface Change {
  readonly field: CorrectableField;
  readonly after: string | number;
  readonly reason: string;
}

async function correct(
  { database, vault, actor }: OperatorContext,
  session: Transaction,
  id: ApplicationId,
  { field, after, reason }: Change,
): Promise<Corrected> {
  await session.query(LIMIT);
  await requireIndexKey(session, vault);
  // Contracts come before batches in the order of locks.
  if (isPersonalField(field)) await closeShown(session, id);
  const batch = await holdForCorrection(session, id);
  // Read under the lock, so an erasure or a correction that came first is seen.
  const [application] = await readApplications(database, vault, [id]);
  if (batch === null || application === undefined) throw new OperatorError(`there is no application ${id}`);
  const { status, fields } = requireReadable(application);
  const earlier = await correctionsOf(session, vault, id);
  if (earlier.length >= MOST)
    throw new OperatorError(`application ${id} has ${MOST} corrections: it takes no more`);
  const before = valueNow(application, earlier, field);
  if (before === after) throw new OperatorError(`${field} of application ${id} has this value already`);
  const idNumber = field === 'id_number' ? String(after) : String(fields.id_number);
  const written = { field, before, after, actor, idNumber };
  const correction = await writeCorrection(session, vault, id, batch, written);
  await addToHistory(session, id, { actor, action: 'correct', status, reason: `${field}: ${reason}` });
  return {
    correction,
    field,
    status,
    decidedWithOldValue: !isPersonalField(field),
    decisionNow: isPersonalField(field)
      ? null
      : await decisionNow(session, { ...factsNow(application, earlier), [field]: after }),
    signedContractStays: application.signedAt !== null,
  };
}

/** The stored fields, with the corrected facts of the score. */
function factsNow(
  { fields }: StoredApplication,
  earlier: readonly Correction[],
): StoredApplication['fields'] {
  const facts = earlier.filter(({ field, values }) => !isPersonalField(field) && values !== null);
  return { ...fields, ...Object.fromEntries(facts.map(({ field, values }) => [field, values?.after])) };
}

async function decisionNow(
  session: Transaction,
  facts: StoredApplication['fields'],
): Promise<Corrected['decisionNow']> {
  const live = await readLive(session);
  if (live === null || !areDecidable(facts)) return null;
  const { score, decision } = live.card.decide(facts as unknown as DecisionFacts);
  return { policy: live.card.version, score, decision };
}

function requireReadable(application: StoredApplication): {
  readonly status: ApplicationStatus;
  readonly fields: StoredApplication['fields'];
} {
  const { id, fault, status, fields } = application;
  if (fault !== null || status === null)
    throw new OperatorError(
      `application ${id} cannot be corrected: its personal data cannot be read (${fault ?? 'unreadable'})`,
    );
  if (fields.id_number === null)
    throw new OperatorError(`application ${id} cannot be corrected: its person is erased`);
  return { status, fields };
}

/** The value that counts now: the stored one, or that of the last correction of a fact of the score. */
function valueNow(
  { fields }: StoredApplication,
  earlier: readonly Correction[],
  field: CorrectableField,
): CorrectedValue {
  const last = isPersonalField(field) ? undefined : earlier.findLast((one) => one.field === field);
  return last?.values?.after ?? (fields[field] as CorrectedValue);
}
