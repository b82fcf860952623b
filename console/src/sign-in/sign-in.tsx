/** The sign-in: the password first, then a code. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { failureText } from '../api/failure.ts';
import { beginAtProvider, giveCode, givePassword, type Operator } from '../api/session.ts';
import { SESSION_KEY } from '../api/signed-in.ts';
import { useTexts } from '../texts/texts.ts';
import { AtProvider, useWaysIn } from './at-provider.tsx';
import { AnotherAccount, EndedNote } from './ended-note.tsx';
import { CodeField, PasswordField } from './fields.tsx';
import styles from './sign-in.module.css';

/** `ended` is the operator whose session ended, and who may go on; null: anybody signs in. */
export function SignIn({ ended }: { ended: Operator | null }) {
  const [chosen, setStep] = useState<'password' | 'code' | null>(null);
  // The identity provider may have led back here, or the page was loaded again: then the code is next.
  const ways = useWaysIn();
  const step = chosen ?? (ways?.needs_code === true ? 'code' : 'password');
  if (step === 'password') return <FirstStep ended={ended} onDone={() => setStep('code')} />;
  return <CodeStep onBack={() => setStep('password')} />;
}

function FirstStep({ ended, onDone }: { ended: Operator | null; onDone: () => void }) {
  const texts = useTexts();
  const { signIn } = texts;
  const [login, setLogin] = useState(ended?.login ?? '');
  const [password, setPassword] = useState('');
  const give = useMutation({ mutationFn: () => givePassword(login.trim(), password), onSuccess: onDone });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    give.mutate();
  };
  const hasPassword = ended?.signs_in_with !== 'oidc';
  return (
    <form className={styles.card} onSubmit={submit}>
      <h1>{signIn.title}</h1>
      {ended !== null && <EndedNote login={ended.login} />}
      {ended === null && <LoginField value={login} onChange={setLogin} />}
      {hasPassword && (
        <PasswordField value={password} onChange={setPassword} {...(ended && { login: ended.login })} />
      )}
      {give.isError && <p role="alert">{failureText(give.error, texts, { 401: signIn.wrong })}</p>}
      {hasPassword && (
        <button type="submit" data-main disabled={give.isPending}>
          {signIn.next}
        </button>
      )}
      {ended?.signs_in_with !== 'password' && (
        <AtProvider begin={beginAtProvider} inOtherTab={ended !== null} />
      )}
      {ended !== null && <AnotherAccount />}
    </form>
  );
}

function LoginField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const { signIn } = useTexts();
  return (
    <label>
      {signIn.login}
      <input
        autoComplete="username"
        autoCapitalize="none"
        required
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}

function CodeStep({ onBack }: { onBack: () => void }) {
  const texts = useTexts();
  const { signIn } = texts;
  const queries = useQueryClient();
  const [code, setCode] = useState('');
  const [isRecovery, setRecovery] = useState(false);
  const give = useMutation({
    mutationFn: () => giveCode(code),
    onSuccess: () => queries.invalidateQueries({ queryKey: SESSION_KEY }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    give.mutate();
  };
  return (
    <form className={styles.card} onSubmit={submit}>
      <h1>{signIn.title}</h1>
      <CodeField kind={isRecovery ? 'recovery' : 'app'} isFocused value={code} onChange={setCode} />
      {give.isError && <p role="alert">{failureText(give.error, texts, { 401: signIn.wrong })}</p>}
      <button type="submit" data-main disabled={give.isPending}>
        {signIn.finish}
      </button>
      <button type="button" onClick={() => setRecovery(!isRecovery)}>
        {isRecovery ? signIn.useApp : signIn.useRecoveryCode}
      </button>
      <button type="button" onClick={onBack}>
        {signIn.other}
      </button>
    </form>
  );
}
