/**
 * The policy that decides now, in a service (D51; docs/policy.md, "Which version decides"). The first start of a store
 * activates the policy of `POLICY_FILE`, or the built-in one; from then on activations alone change it. Reads
 * `policy_live`; the first start writes by `sql/policies.ts` and records its act.
 */
import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { documentOf, type PolicyContent } from '../../../domain/scorecard/content.ts';
import { findingsOf } from '../../../domain/scorecard/findings.ts';
import { DEFAULT_POLICY } from '../../../domain/scorecard/form-1.ts';
import type { LivePolicySource } from '../../../domain/scorecard/scorecard.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { describeError } from '../../../ground/base/describe-error.ts';
import { ToldError } from '../../../ground/base/told-error.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { SetupError } from '../../../ground/postgres/setup-error.ts';
import { acting } from '../../../program/operations/acting.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import type { Vault } from '../../../seal/vault.ts';
import { digestOf } from '../sql/digest.ts';
import {
  activatePolicy,
  addPolicyOnce,
  findPolicy,
  keepConstants,
  type LivePolicyRow,
  readLive,
  readLiveId,
  readToday,
} from '../sql/policies.ts';

/** Who activates a store's first policy: the service, as the record of acts names it. */
const SERVICE = 'ventanilla';
const NO_POLICY = 'the store had no policy';

interface PolicyContext {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The live policy of a process. */
export class LivePolicy implements LivePolicySource {
  readonly #context: PolicyContext;
  #now: LivePolicyRow;
  #reading: Promise<void> | null = null;

  private constructor(context: PolicyContext, now: LivePolicyRow) {
    this.#context = context;
    this.#now = now;
  }

  /**
   * Opens it; `file` is the path of POLICY_FILE. Throws `ToldError` where the file is no policy, and `SetupError` where
   * its version is stored with other content.
   */
  static async open(context: PolicyContext, file: string | null): Promise<LivePolicy> {
    const { database, log } = context;
    await keepConstants(database);
    const given = file === null ? null : await readPolicyFile(file);
    const live = (await readLive(database)) ?? (await activateFirst(context, given ?? DEFAULT_POLICY));
    if (given !== null) await compareWithFile(database, log, given, live);
    return new LivePolicy(context, live);
  }

  /** The live policy as this process last saw it. */
  get now(): LivePolicyRow {
    return this.#now;
  }

  /** Reads the live policy where another one is live by now. Calls at the same moment share the reading. */
  refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    const { database, log } = this.#context;
    if ((await readLiveId(database)) === this.#now.id) return;
    const live = await readLive(database);
    if (live === null || live.id === this.#now.id) return;
    this.#now = live;
    log.info({ policy: live.card.version, activation: live.activationId }, 'another policy decides now');
  }
}

async function readPolicyFile(path: string): Promise<PolicyContent> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new ToldError(`POLICY_FILE ${path} cannot be read as JSON: ${describeError(error)}`);
  }
  // The modules that check a policy are larger than all others of a start together.
  const { parsePolicy } = await import('../rules/check-policy.ts');
  return parsePolicy(text, `POLICY_FILE ${path}`);
}

/** Activates a store's first policy. Of two processes that start at once one does. */
async function activateFirst(context: PolicyContext, content: PolicyContent): Promise<LivePolicyRow> {
  const { database, log } = context;
  const today = await readToday(database);
  const findings =
    content === DEFAULT_POLICY ? [] : findingsOf(documentOf(content), { today, realFactors: {} });
  const error = findings.find(({ severity }) => severity === 'error');
  if (error !== undefined) throw new ToldError(`POLICY_FILE: ${error.place}: ${error.text} (${error.code})`);
  for (const { code, place, text } of findings) log.warn({ code, place }, `the policy: ${text}`);
  const accepted = [...new Set(findings.map(({ code }) => code))];
  const { policy, isSame } = await addPolicyOnce(database, content, { by: SERVICE, accepted });
  if (!isSame) throw otherContent(content.version);
  const operator: OperatorContext = { ...context, actor: SERVICE };
  await acting(
    operator,
    (part) =>
      activatePolicy(part.database, {
        policyId: policy.id,
        after: null,
        by: SERVICE,
        second: null,
        reason: NO_POLICY,
        accepted,
        backtest: null,
      }),
    (isDone) =>
      isDone ? { act: 'policy activate', target: `policy ${content.version}`, reason: NO_POLICY } : null,
  );
  const live = await readLive(database);
  if (live === null) throw new Error('no policy is live after its activation');
  return live;
}

/** Says where POLICY_FILE is not what decides: it only seeds an empty store. */
async function compareWithFile(
  database: Database,
  log: Logger,
  given: PolicyContent,
  live: LivePolicyRow,
): Promise<void> {
  const stored = await findPolicy(database, given.version);
  if (stored !== null && digestOf(stored.content) !== digestOf(given)) throw otherContent(given.version);
  if (given.version === live.content.version) return;
  log.warn(
    { policy_file: given.version, live: live.content.version },
    'POLICY_FILE only seeds an empty store, and another version is live: change it with `ventanilla policy add` and `policy activate`',
  );
}

function otherContent(version: string): SetupError {
  return new SetupError(
    `policy version ${version} already decided with other content: give the changed policy a new version`,
  );
}
