/**
 * Everything about one application, with its messages and its history, as operators see it (D30, D34, D48). Reads
 * applications and messages, and writes nothing.
 */
import { type ApplicationId, toApplicationId } from '../../../domain/application/ids.ts';
import {
  APPLICANT,
  type ApplicationStatus,
  INITIAL_STATUS,
  type NotedAction,
  type ReviewAction,
} from '../../../domain/application/lifecycle.ts';
import type { ReasonCode } from '../../../domain/application/reason-codes.ts';
import { accountOf } from '../../../program/operations/acting.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { type ApplicationDetails, readApplicationDetails } from '../../applications/sql/applications.ts';
import { readMessagesOf, type StoredMessage } from '../sql/messages.ts';

/** How somebody acts: an `operator` has an account, and `command_line` is the machine's owner (D48). */
export type ActorWay = 'service' | 'applicant' | 'operator' | 'command_line';

/** An entry of the history; `from` is null for the registration. */
interface HistoryEntry {
  readonly at: Date;
  readonly actor: string;
  readonly way: ActorWay;
  readonly action: ReviewAction | 'register' | 'interested' | NotedAction;
  readonly from: ApplicationStatus | null;
  /** null: the decision of the registration cannot be read. */
  readonly to: ApplicationStatus | null;
  readonly reason: string;
  /** null for the registration and the tap. */
  readonly reasonCode: ReasonCode | null;
  /** The second operator of an act that needs two (D46). */
  readonly second: string | null;
}

export interface ExplainedApplication extends ApplicationDetails {
  /** Oldest first. */
  readonly messages: readonly StoredMessage[];
  /** The registration, then every review and the applicant's interest, oldest first. */
  readonly history: readonly HistoryEntry[];
}

/** Everything about one application (D30, D34). Throws `OperatorError` if there is no such application. */
export async function showApplication(
  { database, vault }: OperatorContext,
  id: ApplicationId,
): Promise<ExplainedApplication> {
  const details = await readApplicationDetails(database, vault, id);
  if (details === null) throw new OperatorError(`there is no application ${id}`);
  const registered: HistoryEntry = {
    at: details.createdAt,
    actor: 'ventanilla',
    way: 'service',
    action: 'register',
    from: null,
    to: details.decision && INITIAL_STATUS[details.decision],
    reason: `score ${details.score ?? 'unreadable'}${details.aboveLimit ? ', amount above the limit' : ''}`,
    reasonCode: null,
    second: null,
  };
  const messages = (await readMessagesOf(database, toApplicationId(id))).toReversed();
  const events = details.events.map((event) => ({ ...event, way: wayOf(event) }));
  return { ...details, messages, history: [registered, ...events] };
}

/**
 * How the actor of an event acted. A name of the command line may be any word, so an applicant is recognised by acts
 * that only applicants do.
 */
function wayOf({ action, actor, reasonCode }: ApplicationDetails['events'][number]): ActorWay {
  if (action === 'interested') return 'applicant';
  // An operator who records a withdrawal never has this name.
  if (reasonCode === 'contract_withdrawn' && actor === APPLICANT) return 'applicant';
  return accountOf(actor) === null ? 'command_line' : 'operator';
}
