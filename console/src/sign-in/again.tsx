/** The dialog in which an operator proves both factors again, for an act that needs a new sign-in. */
import { useQueryClient } from '@tanstack/react-query';
import { AnswerError } from '../api/ask.ts';
import { type Operator, SESSION_KEY } from '../api/session.ts';
import { Dialog } from '../base-ui/dialog.tsx';
import { useTexts } from '../texts/texts.ts';
import { AgainAtProvider } from './again-at-provider.tsx';
import { AgainHere } from './again-here.tsx';

/** Whether an act was refused because the sign-in is too old. */
export function needsSignIn(error: unknown): boolean {
  return error instanceof AnswerError && error.status === 403 && error.body?.needs === 'sign-in';
}

interface SignInAgainProps {
  /** Why the act failed; anything that is no refusal of an old sign-in keeps the dialog closed. */
  readonly refused: unknown;
  /** Repeats the act. */
  readonly onProved: () => void;
  /** Gives the act up: has to take `refused` away. */
  readonly onCancel: () => void;
}

/**
 * Stands beside an act, and opens by itself:
 * `<SignInAgain refused={act.error} onProved={() => act.mutate()} onCancel={act.reset} />`.
 */
export function SignInAgain({ refused, onProved, onCancel }: SignInAgainProps) {
  const { signIn } = useTexts();
  const operator = useQueryClient().getQueryData<Operator>(SESSION_KEY);
  const isOpen = needsSignIn(refused);
  return (
    <Dialog isOpen={isOpen} onClose={onCancel} title={signIn.againTitle} note={signIn.againNote}>
      {isOpen && operator?.signs_in_with === 'oidc' && (
        <AgainAtProvider hasApp={operator.has_app} onProved={onProved} onCancel={onCancel} />
      )}
      {isOpen && operator?.signs_in_with === 'password' && (
        <AgainHere login={operator.login} onProved={onProved} onCancel={onCancel} />
      )}
    </Dialog>
  );
}
