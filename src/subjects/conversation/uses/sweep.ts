/**
 * Tells conversations what changed beside them: the status of the application, and an opt-out from anywhere (D43).
 * Writes `conversation_inputs`; `sql/sweep.ts` finds the changes.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { addInputs, INPUT_BELL, type NewInput } from '../sql/inputs.ts';
import { changedBeside, changedStatuses, nextOpen, optedOutOf, PART } from '../sql/sweep.ts';

/** Where the round over all open conversations goes on; null: it begins again. */
export type RoundPlace = ApplicationId | null;

/** The result of a look. */
interface Look {
  /** How many inputs are new. */
  readonly told: number;
  readonly after: RoundPlace;
}

/**
 * Stores an input for each open conversation that has to hear of a change: those with a recent change, and the next
 * part of the round, which follows `after`.
 */
export async function sweepConversations(
  { database, vault }: { database: Database; vault: Vault },
  after: RoundPlace,
): Promise<Look> {
  const part = await nextOpen(database, after);
  const next = part.length < PART ? null : part.at(-1)!.applicationId;
  const found = [...(await changedBeside(database)), ...part];
  const some = [...new Map(found.map((one) => [one.id, one])).values()];
  if (some.length === 0) return { told: 0, after: next };
  let added = 0;
  const tell = async (inputs: readonly NewInput[]) => {
    added += await addInputs(database, vault, 'sweep', inputs);
  };
  const about = { messageIndex: null, workId: null, at: null };
  const optedOut = await optedOutOf(
    database,
    some.map(({ phoneIndex }) => phoneIndex),
  );
  // Opt-outs are stored first and so win: of one conversation at most one input of the sweep waits.
  await tell(
    some
      .filter(({ phoneIndex }) => optedOut.has(phoneIndex))
      .map(({ id, applicationId }) => ({
        ...about,
        conversationId: id,
        applicationId,
        content: { kind: 'opted_out' },
      })),
  );
  const changed = await changedStatuses(database, some);
  await tell(
    changed.map(({ conversation: { id, applicationId }, status }) => ({
      ...about,
      conversationId: id,
      applicationId,
      content: { kind: 'status', status },
    })),
  );
  if (added > 0) INPUT_BELL.ring();
  return { told: added, after: next };
}
