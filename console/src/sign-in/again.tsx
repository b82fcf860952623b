/** The dialog in which an operator proves both factors again, for acts that wait for a new sign-in. */
import { giveUp, goOn, useWaits } from '../api/act.ts';
import type { Operator } from '../api/session.ts';
import { Dialog } from '../base-ui/dialog.tsx';
import { useTexts } from '../texts/texts.ts';
import { AgainAtProvider } from './again-at-provider.tsx';
import { AgainHere } from './again-here.tsx';

/** Opens by itself, on every page. */
export function SignInAgain({ operator }: { operator: Operator }) {
  const { signIn } = useTexts();
  const isOpen = useWaits('proof');
  return (
    <Dialog isOpen={isOpen} onClose={giveUp} title={signIn.againTitle} note={signIn.againNote}>
      {isOpen && operator.signs_in_with === 'oidc' && (
        <AgainAtProvider hasApp={operator.has_app} onProved={goOn} onCancel={giveUp} />
      )}
      {isOpen && operator.signs_in_with === 'password' && (
        <AgainHere login={operator.login} onProved={goOn} onCancel={giveUp} />
      )}
    </Dialog>
  );
}
