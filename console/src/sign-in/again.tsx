/** The dialog in which an operator proves both factors again, for acts that wait for a new sign-in. */
import { type About, giveUp, goOn, useWaiting } from '../api/act.ts';
import type { Operator } from '../api/session.ts';
import { Dialog } from '../base-ui/dialog.tsx';
import { useTexts } from '../texts/texts.ts';
import { AgainAtProvider } from './again-at-provider.tsx';
import { AgainHere } from './again-here.tsx';

/** Opens by itself, on every page. */
export function SignInAgain({
  operator,
}: {
  operator: Pick<Operator, 'login' | 'signs_in_with' | 'has_app'>;
}) {
  const { signIn } = useTexts();
  const waiting = useWaiting('proof');
  const isOpen = waiting.length > 0;
  const acts = waiting.map(({ about }) => about).filter((about) => about !== null);
  return (
    <Dialog isOpen={isOpen} onClose={giveUp} title={signIn.againTitle} note={<Waiting acts={acts} />}>
      {isOpen && operator.signs_in_with === 'oidc' && (
        <AgainAtProvider hasApp={operator.has_app} onProved={goOn} onCancel={giveUp} />
      )}
      {isOpen && operator.signs_in_with === 'password' && (
        <AgainHere login={operator.login} onProved={goOn} onCancel={giveUp} />
      )}
    </Dialog>
  );
}

/** Why, and what is sent afterwards. */
function Waiting({ acts }: { acts: readonly About[] }) {
  const { decide, desk, signIn } = useTexts();
  return (
    <>
      <p>{signIn.againNote}</p>
      <ul>
        {acts.map(({ step, act, applicationId }) => (
          <li key={`${step} ${applicationId}`}>
            {step === 'propose' ? decide.decide : decide.confirm}: {desk.proposed[act]},{' '}
            {decide.application(applicationId)}
          </li>
        ))}
      </ul>
    </>
  );
}
