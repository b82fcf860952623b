/**
 * Reads whether an installation is well, from its store (docs/monitoring.md, "ventanilla status"). Changes nothing, and
 * needs no secret.
 */
import { describeError, errorCode } from '../../../ground/base/describe-error.ts';
import { isServerTrouble } from '../../../ground/postgres/store-trouble.ts';
import type { StoreView } from '../../../program/operations/operator-context.ts';
import type { StoreFacts } from '../rules/store-facts.ts';
import type { StandingTrouble, Trouble } from '../rules/trouble.ts';
import { knownSince, troublesOf } from '../rules/troubles.ts';
import { readStoreFacts } from '../sql/store-facts.ts';
import { readStanding } from '../sql/troubles.ts';

export interface Status {
  /** The worst first; empty if all is well. */
  readonly troubles: readonly StandingTrouble[];
  /** null if the database does not answer, or its tables are not of this version. */
  readonly facts: StoreFacts | null;
  /** Where the store is; null if the database does not answer. */
  readonly place: string | null;
}

/** The SQLSTATE of a statement that the role may not run. */
const DENIED = '42501';
/** The partners whose quota the screen may show. */
const PARTNERS = 1_000;

/** The status of a database at this moment. Throws errors that are not trouble of the server. */
export async function readStatus(view: StoreView): Promise<Status> {
  if ('unreachable' in view) return unreachable(view.unreachable);
  try {
    const { place } = view;
    const { fault, pending } = await view.schema();
    if (fault !== null)
      return { troubles: unnoted({ code: 'schema_unfit', text: fault }), facts: null, place };
    if (pending.length > 0) {
      const text = `migrations that are not applied: ${pending.length}; "migrate" or a start applies them`;
      return { troubles: unnoted({ code: 'schema_pending', text }), facts: null, place };
    }
    const unfit = await view.roleFault();
    const troubles = unfit === null ? [] : unnoted({ code: 'role_unfit', text: unfit });
    try {
      const facts = await readStoreFacts(view.database, PARTNERS);
      const noted = await readStanding(view.database);
      const found = troublesOf(facts).map((trouble) => ({
        ...trouble,
        since: noted.get(trouble.code) ?? knownSince(trouble, facts),
      }));
      return { troubles: [...troubles, ...found], facts, place };
    } catch (error) {
      if (unfit === null || errorCode(error) !== DENIED) throw error;
      return { troubles, facts: null, place };
    }
  } catch (error) {
    if (!isServerTrouble(error)) throw error;
    return unreachable(describeError(error));
  }
}

function unreachable(text: string): Status {
  return { troubles: unnoted({ code: 'database_unreachable', text }), facts: null, place: null };
}

/** A trouble that nobody can note: while it stands, no upkeep is done. */
function unnoted(trouble: Trouble): StandingTrouble[] {
  return [{ ...trouble, since: null }];
}
