/**
 * What operators do with versions of policies: add, activate, withdraw, and drop drafts (D51; docs/policy.md,
 * "Versions"). Each act is recorded in its transaction. Writes by `sql/policies.ts`.
 */
import type { Card } from '../../../domain/scorecard/card.ts';
import type { Constants } from '../../../domain/scorecard/constants.ts';
import {
  cardOfContent,
  documentOf,
  newConstantsOf,
  type PolicyContent,
} from '../../../domain/scorecard/content.ts';
import type { PolicyDocument } from '../../../domain/scorecard/document.ts';
import {
  type Circumstances,
  type Finding,
  type FindingCode,
  findingsOf,
} from '../../../domain/scorecard/findings.ts';
import { errorCode } from '../../../ground/base/describe-error.ts';
import { acting } from '../../../program/operations/acting.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { readBacktest } from '../sql/backtests.ts';
import { digestOf } from '../sql/digest.ts';
import {
  activatePolicy,
  addPolicy,
  dropDraft,
  findDraft,
  findPolicy,
  listActivations,
  listPolicies,
  MOST_DRAFTS,
  type PolicyState,
  type PolicyVersion,
  putDraft,
  readLive,
  readToday,
  type StoredActivation,
  withdrawPolicy,
} from '../sql/policies.ts';

/** The real monthly payment of one unit of debt, by currency: `Circumstances.realFactors`. */
export type RealFactors = Circumstances['realFactors'];

export type { PolicyVersion, StoredActivation };

/** All versions, as `listPolicies`. */
export function listVersions({ database }: OperatorContext): Promise<PolicyVersion[]> {
  return listPolicies(database);
}

export interface Added {
  readonly version: string;
  /** null: refused, and nothing is stored. */
  readonly state: PolicyState | null;
  readonly findings: readonly Finding[];
  /** The warnings that nobody has accepted yet. They leave the version a draft. */
  readonly open: readonly FindingCode[];
}

/**
 * Adds a version. An error refuses it; a warning that is not in `accepts` leaves it a draft; else it is ready and
 * frozen. A version that is there with the same content stays what it is. Throws `OperatorError` where the version is
 * there with other content, or where the store has too many drafts.
 */
export async function addVersion(
  context: OperatorContext,
  content: PolicyContent,
  accepts: readonly string[],
  realFactorsOn: (today: string) => Promise<RealFactors>,
): Promise<Added> {
  const { version } = content;
  const today = await readToday(context.database);
  const realFactors = await realFactorsOn(today);
  const findings = findingsOf(documentOf(content), { today, realFactors });
  if (findings.some(({ severity }) => severity === 'error'))
    return { version, state: null, findings, open: [] };
  const codes = [...new Set(findings.map(({ code }) => code))];
  const open = codes.filter((code) => !accepts.includes(code));
  const state = await acting(
    context,
    async (part) => {
      const listed = await listedOf(part, version);
      const found = await findPolicy(part.database, version);
      if (listed !== null && found !== null) {
        if (digestOf(found.content) !== digestOf(content)) throw otherContent(version);
        return { state: listed.state, isNew: false };
      }
      if (open.length > 0) {
        if (!(await putDraft(part.database, content, part.actor)))
          throw new OperatorError(`the store has ${MOST_DRAFTS} drafts: drop one with policy withdraw`);
        return { state: 'draft' as const, isNew: true };
      }
      await addPolicy(part.database, content, { by: part.actor, accepted: codes });
      await dropDraft(part.database, version);
      return { state: 'ready' as const, isNew: true };
    },
    (done) =>
      done.isNew
        ? {
            act: done.state === 'draft' ? 'policy draft' : 'policy add',
            target: `policy ${version}`,
            ...(codes.length > 0 && done.state !== 'draft' && { reason: `accepted: ${codes.join(', ')}` }),
          }
        : null,
  );
  return { version, state: state.state, findings, open: state.state === 'draft' ? open : [] };
}

function otherContent(version: string): OperatorError {
  return new OperatorError(
    `version ${version} is there with other content: give the changed policy a new version`,
  );
}

async function listedOf({ database }: OperatorContext, version: string): Promise<PolicyVersion | null> {
  return (await listPolicies(database)).find((one) => one.version === version) ?? null;
}

/** PostgreSQL's codes of `activate_policy`: the version is withdrawn or not there; the backtest is of another one. */
const WITHDRAWN = 'VN006';
const OTHER_BACKTEST = 'VN008';

export interface Activated {
  readonly version: string;
  /** The version that was live before; null: none. */
  readonly before: string | null;
}

/**
 * Makes a version live, also an older one. From the commit on no batch begins with another version. `backtest` is the
 * stored backtest that this rests on, if any. Throws `OperatorError` where the version is not ready, is live already,
 * is not valid yet, where the backtest is not there or is of another version or content, or where another version was
 * activated meanwhile.
 */
export async function activateVersion(
  context: OperatorContext,
  version: string,
  reason: string,
  backtest: number | null = null,
): Promise<Activated> {
  const policy = await findPolicy(context.database, version);
  if (policy === null) {
    throw new OperatorError(
      (await findDraft(context.database, version)) === null
        ? `there is no policy ${version}: policy list shows the versions`
        : `policy ${version} is a draft: policy add with --accept makes it ready`,
    );
  }
  const { valid_from: from } = policy.card.document;
  if (typeof from === 'string' && from > (await readToday(context.database)))
    throw new OperatorError(`policy ${version} may be activated from ${from} on (UTC)`);
  const accepted = (await listedOf(context, version))?.accepted ?? [];
  const live = await readLive(context.database);
  if (live?.id === policy.id) throw new OperatorError(`policy ${version} is live already`);
  if (backtest !== null) await requireBacktest(context, backtest, policy.content);
  const activation = {
    policyId: policy.id,
    after: live?.activationId ?? null,
    ...{ by: context.actor, second: null, reason, accepted, backtest },
  };
  await acting(
    context,
    async ({ database }) => {
      const isDone = await activatePolicy(database, activation).catch((error: unknown) => {
        if (errorCode(error) === OTHER_BACKTEST) throw noBacktest(backtest);
        if (errorCode(error) !== WITHDRAWN) throw error;
        throw new OperatorError(`policy ${version} was withdrawn`);
      });
      if (!isDone) throw new OperatorError('another policy was activated meanwhile: look at policy list');
    },
    () => ({
      act: 'policy activate',
      target: `policy ${version}${backtest === null ? '' : `, backtest ${backtest}`}`,
      reason,
    }),
  );
  return { version, before: live?.content.version ?? null };
}

async function requireBacktest(
  { database }: OperatorContext,
  id: number,
  content: PolicyContent,
): Promise<void> {
  const stored = await readBacktest(database, id);
  if (stored === null) throw noBacktest(id);
  if (stored.version !== content.version)
    throw new OperatorError(`backtest ${id} is of policy ${stored.version}, not of ${content.version}`);
  if (stored.sha256 !== digestOf(content))
    throw new OperatorError(
      `backtest ${id} is of an earlier draft of ${content.version} with other content: run policy backtest again`,
    );
}

function noBacktest(id: number | null): OperatorError {
  return new OperatorError(`there is no backtest ${id}: policy backtests shows those that are stored`);
}

/** Drops a draft, or withdraws a version that was never live. Throws `OperatorError` where there is neither. */
export async function withdrawVersion(context: OperatorContext, version: string): Promise<void> {
  await acting(
    context,
    async ({ database, actor }) => {
      const isDone = (await dropDraft(database, version)) || (await withdrawPolicy(database, version, actor));
      if (!isDone)
        throw new OperatorError(
          `policy ${version} is no draft, and not ready without having been live: it stays`,
        );
    },
    () => ({ act: 'policy withdraw', target: `policy ${version}` }),
  );
}

/** The activations of a version, the newest first. */
export async function activationsOf(
  { database }: OperatorContext,
  version: string,
): Promise<StoredActivation[]> {
  return (await listActivations(database)).filter((one) => one.version === version).toReversed();
}

export interface FoundVersion {
  readonly content: PolicyContent;
  readonly document: PolicyDocument;
  readonly constants: Constants;
  readonly card: Card;
  readonly listed: PolicyVersion | null;
}

/** A version or a draft. Throws `OperatorError` where there is none. */
export async function findVersion(context: OperatorContext, version: string): Promise<FoundVersion> {
  const { database } = context;
  const policy = await findPolicy(database, version);
  const content = policy?.content ?? (await findDraft(database, version));
  if (content === null)
    throw new OperatorError(`there is no policy ${version}: policy list shows the versions`);
  const listed = await listedOf(context, version);
  const constants = policy?.constants ?? newConstantsOf(content);
  const card = cardOfContent(content, constants);
  return { content, document: card.document, constants, card, listed };
}
