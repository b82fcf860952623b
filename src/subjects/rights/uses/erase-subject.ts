/**
 * Erases everything about a person, over all partners, and records it (docs/subject.md, "Erase"). Repeats until nothing
 * is left, one transaction for each part.
 */
import type { ApplicationId, BatchId } from '../../../domain/application/ids.ts';
import { isOpen } from '../../../domain/application/lifecycle.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { errorCode } from '../../../ground/base/describe-error.ts';
import { UnknownDataKeyError } from '../../../ground/base/registration-failure.ts';
import { acting } from '../../../program/operations/acting.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { phoneIndexOf, toBigint } from '../../../seal/blind-indexes.ts';
import { requireIndexKey } from '../../../seal/index-key.ts';
import type { StoredApplication } from '../../applications/sql/applications.ts';
import { trimSurplus } from '../../applications/sql/surplus.ts';
import { hasPhones, isBeingSent } from '../../messages/sql/erasure.ts';
import { type Erased, eraseApplications, openError } from './erase-applications.ts';
import { type Asked, findApplications, type Named, readNamed, spellingsOf } from './find-applications.ts';

/** What is stored about a person. */
export interface Found {
  readonly applications: readonly StoredApplication[];
  /** The spellings in which the applications have the phone or the ID number that the operator gave. */
  readonly spellings: ReadonlySet<string>;
  /** Those of the applications that are open. */
  readonly open: readonly ApplicationId[];
  /** Delivery has something under the phone that the operator gave. */
  readonly hasPhone: boolean;
}

/** What was erased, over all transactions. */
export interface ErasedSubject {
  readonly applications: ApplicationId[];
  /** As in `Found`. */
  readonly spellings: Set<string>;
  readonly closed: ApplicationId[];
  /** Those of the applications whose signed contract stays for the legal term. */
  readonly contracts: ApplicationId[];
  readonly unopened: BatchId[];
  /** The partners that sent the applications. They have the data too. */
  readonly partners: Set<string>;
  /** Delivery had something under the phone. */
  hadPhone: boolean;
  /** More applications of the person were registered again and again, and these are not erased. */
  isLeft: boolean;
}

/** Finds what would be erased. Throws `OperatorError` if `asked` names nobody. */
export async function findSubject(context: OperatorContext, asked: Asked): Promise<Found> {
  return look(context, await readNamed(context, asked));
}

/** For how long an erasure tries again if others are in its way: a send takes seconds. */
const PATIENCE_MS = 10_000;
const PAUSE_MS = 250;
/** Applications may come while an erasure works. A partner who sends them without end has to be stopped first. */
const MOST_ROUNDS = 5;
/**
 * The most applications of one transaction, because a statement has to end in time, however many a partner has sent.
 */
const MOST_AT_ONCE = 500;
/** Usually there is nothing to trim. */
const TRIM_FOR_MS = 500;

/**
 * Erases what is stored about a person, in transactions of up to 500 applications, each with a row in the record of
 * acts. Then it looks again until nothing is left, so that what was registered meanwhile is erased too. If the answer
 * of a commit is lost, call it again. Throws `OperatorError` if an application is open and `close` is false; then
 * nothing of this transaction is erased.
 */
export async function eraseSubject(
  context: OperatorContext,
  asked: Asked,
  { close, reason }: { readonly close: boolean; readonly reason: string },
): Promise<ErasedSubject> {
  const named = await readNamed(context, asked);
  const phones = phonesOf(context, named);
  const total: ErasedSubject = {
    applications: [],
    spellings: new Set(),
    closed: [],
    contracts: [],
    unopened: [],
    partners: new Set(),
    hadPhone: false,
    isLeft: false,
  };
  for (let round = 1; ; round += 1) {
    // Right after a registration an envelope still holds refused applicants, and no index leads to these.
    await trimSurplus(context.database, context.vault, context.clock, { forMs: TRIM_FOR_MS, after: '0' });
    const { applications, spellings, open, hasPhone } = await look(context, named);
    for (const spelling of spellings) total.spellings.add(spelling);
    // Traces without an application are erased once. What is still found afterwards has no application any more.
    if (applications.length === 0 && (!hasPhone || total.hadPhone)) break;
    if (round > MOST_ROUNDS) {
      total.isLeft = true;
      break;
    }
    if (open.length > 0 && !close) throw openError(open);
    for (let start = 0; start === 0 || start < applications.length; start += MOST_AT_ONCE) {
      const some = applications.slice(start, start + MOST_AT_ONCE);
      const ids = some.map(({ id }) => id);
      const done = await patiently(
        context.clock,
        () =>
          acting(
            context,
            async (part) => {
              await requireIndexKey(part.database, part.vault);
              return eraseApplications(part, ids, phones, { close, nobodySends: false });
            },
            (erased) => actOf(erased, reason),
          ),
        total.applications,
      );
      total.applications.push(...done.applications);
      total.closed.push(...done.closed);
      total.contracts.push(...done.contracts);
      total.unopened.push(...done.unopened);
      for (const { partner } of some) total.partners.add(partner.name);
    }
    total.hadPhone ||= hasPhone;
  }
  return total;
}

async function look(context: OperatorContext, named: Named): Promise<Found> {
  const applications = await findApplications(context, named);
  const open = applications.filter(({ status }) => status === null || isOpen(status)).map(({ id }) => id);
  const hasPhone = await hasPhones(context.database, phonesOf(context, named));
  // During a vault reindex the search would find nobody, and the person would seem unknown.
  await requireIndexKey(context.database, context.vault);
  return { applications, spellings: spellingsOf(named, applications), open, hasPhone };
}

function phonesOf({ vault }: OperatorContext, named: Named): string[] {
  return 'phone' in named ? [toBigint(phoneIndexOf(vault, named.phone))] : [];
}

/** The most ids in one row of the record. */
const MOST_IDS = 20;

function actOf({ applications }: Erased, reason: string) {
  const some = applications.slice(0, MOST_IDS).join(', ');
  const more = applications.length - MOST_IDS;
  const target = `applications ${some}${more > 0 ? ` and ${more} more` : ''}`;
  const [only] = applications;
  if (only === undefined) return { act: 'subject erase', target: 'a phone without applications', reason };
  return {
    act: 'subject erase',
    ...(applications.length === 1 ? { applicationId: only } : { target }),
    reason,
  };
}

/** PostgreSQL's code for a wait for a lock that took too long. */
const LOCKED = '55P03';

/**
 * Tries again while another session is in the way: a worker that sends, or the upkeep. `before`: what is erased
 * already, for the text of an error.
 */
async function patiently<T>(
  clock: Clock,
  work: () => Promise<T>,
  before: readonly ApplicationId[],
): Promise<T> {
  const rest =
    before.length === 0
      ? 'nothing was erased'
      : `applications ${before.join(', ')} were erased before, and no other`;
  const until = clock.monotonicMs() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof UnknownDataKeyError) {
        throw new OperatorError(
          `an envelope of the person is sealed with a data key that this command lacks: set DATA_KEYS as the services have it; ${rest}`,
        );
      }
      const isSending = isBeingSent(error);
      if (!isSending && errorCode(error) !== LOCKED) throw error;
      if (clock.monotonicMs() > until) {
        const why = isSending
          ? 'a message to the person is being sent'
          : 'the upkeep or another command works on the applications';
        throw new OperatorError(`${why}: ${rest}; try again in a minute`);
      }
      await clock.sleep(PAUSE_MS);
    }
  }
}
