/** Tells conversations what changed beside them: the status of the application, and an opt-out from anywhere (D43). */
import type { Database } from '../../postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';
import { addInputs, type NewInput } from '../sql/inputs.ts';
import { changedStatuses, openConversations, optedOut } from '../sql/sweep.ts';
import { INPUT_BELL } from './bells.ts';

/** Stores an input for each open conversation that has to hear of a change. Returns how many are new. */
export async function sweepConversations({
  database,
  vault,
}: {
  database: Database;
  vault: Vault;
}): Promise<number> {
  let added = 0;
  const tell = async (inputs: readonly NewInput[]) => {
    added += await addInputs(database, vault, 'sweep', inputs);
  };
  const about = { messageIndex: null, workId: null, at: null };
  // An opt-out wins: of one conversation one look waits at most.
  const outs = await optedOut(database);
  await tell(
    outs.map(({ id, applicationId }) => ({
      ...about,
      conversationId: id,
      applicationId,
      content: { kind: 'opted_out' },
    })),
  );
  for await (const some of openConversations(database)) {
    const changed = await changedStatuses(database, some);
    await tell(
      changed.map(({ conversation: { id, applicationId }, status }) => ({
        ...about,
        ...{ conversationId: id, applicationId, content: { kind: 'status', status } },
      })),
    );
  }
  if (added > 0) INPUT_BELL.ring();
  return added;
}
