/** The sign-in: the password first, then a code. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { failureText } from '../api/failure.ts';
import { beginAtProvider, giveCode, givePassword, SESSION_KEY } from '../api/session.ts';
import { useTexts } from '../texts/texts.ts';
import { AtProvider, useWaysIn } from './at-provider.tsx';
import styles from './sign-in.module.css';

export function SignIn() {
  const [chosen, setStep] = useState<'password' | 'code' | null>(null);
  // The identity provider may have led back here, or the page was loaded again: then the code is next.
  const ways = useWaysIn();
  const step = chosen ?? (ways?.needs_code === true ? 'code' : 'password');
  if (step === 'password') return <PasswordStep onDone={() => setStep('code')} />;
  return <CodeStep onBack={() => setStep('password')} />;
}

function PasswordStep({ onDone }: { onDone: () => void }) {
  const texts = useTexts();
  const { signIn } = texts;
  const [login, setLogin] = useState('');
  const [password, setPassword] = useState('');
  const give = useMutation({ mutationFn: () => givePassword(login.trim(), password), onSuccess: onDone });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    give.mutate();
  };
  return (
    <form className={styles.card} onSubmit={submit}>
      <h1>{signIn.title}</h1>
      <label>
        {signIn.login}
        <input
          autoComplete="username"
          autoCapitalize="none"
          required
          value={login}
          onChange={({ target }) => setLogin(target.value)}
        />
      </label>
      <label>
        {signIn.password}
        <input
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={({ target }) => setPassword(target.value)}
        />
      </label>
      {give.isError && <p role="alert">{failureText(give.error, texts, { 401: signIn.wrong })}</p>}
      <button type="submit" data-main disabled={give.isPending}>
        {signIn.next}
      </button>
      <AtProvider begin={beginAtProvider} />
    </form>
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
      <label>
        {isRecovery ? signIn.recoveryCode : signIn.code}
        <input
          // biome-ignore lint/a11y/noAutofocus: the field is the one thing of this step.
          autoFocus
          autoComplete="one-time-code"
          inputMode={isRecovery ? 'text' : 'numeric'}
          required
          value={code}
          onChange={({ target }) => setCode(target.value)}
        />
      </label>
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
