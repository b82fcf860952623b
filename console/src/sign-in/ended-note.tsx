/** What a sign-in is for where a session ended, and the way out for somebody else. */
import { useQueryClient } from '@tanstack/react-query';
import { useWaiting } from '../api/act.ts';
import { forget } from '../api/signed-in.ts';
import { useTexts } from '../texts/texts.ts';

export function EndedNote({ login }: { login: string }) {
  const { signIn } = useTexts();
  const isUnsent = useWaiting('session').length > 0;
  return (
    <div role="alert">
      <p>{signIn.ended(login)}</p>
      {isUnsent && <p>{signIn.unsent}</p>}
    </div>
  );
}

export function AnotherAccount() {
  const { signIn } = useTexts();
  const queries = useQueryClient();
  return (
    <button type="button" onClick={() => void forget(queries)}>
      {signIn.other}
    </button>
  );
}
