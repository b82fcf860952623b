/** The sign-in: the password first, then a code. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { failureText } from '../api/failure.ts';
import { beginAtProvider, giveCode, givePassword, type Operator, type WaysIn } from '../api/session.ts';
import { SESSION_KEY } from '../api/signed-in.ts';
import { useTexts } from '../texts/texts.ts';
import { AtProvider, useWaysIn, WAYS_KEY } from './at-provider.tsx';
import { AnotherAccount, EndedNote } from './ended-note.tsx';
import { CodeField, PasswordField } from './fields.tsx';
import styles from './sign-in.module.css';

/** What the sign-in has to know of somebody whose session ended. */
type Ended = Pick<Operator, 'login' | 'signs_in_with'>;

/** `ended` is whose session ended, and who may go on; null: anybody signs in. */
export function SignIn({ ended }: { ended: Ended | null }) {
  const [chosen, setStep] = useState<'password' | 'over' | 'code' | null>(null);
  // The identity provider may have led back here, or the page was loaded again: then the code is next.
  const ways = useWaysIn();
  const step = chosen ?? (ways?.needs_code === true ? 'code' : 'password');
  if (step === 'code')
    return (
      <CodeStep
        login={ways?.login ?? null}
        onBack={() => setStep('password')}
        onOver={() => setStep('over')}
      />
    );
  return <FirstStep ended={ended} isOver={step === 'over'} onDone={() => setStep('code')} />;
}

interface FirstStepProps {
  readonly ended: Ended | null;
  /** The password was right, and the time for the code is over, or too many codes were wrong. */
  readonly isOver: boolean;
  readonly onDone: () => void;
}

function FirstStep({ ended, isOver, onDone }: FirstStepProps) {
  const texts = useTexts();
  const { signIn } = texts;
  const queries = useQueryClient();
  const [login, setLogin] = useState(ended?.login ?? '');
  const [password, setPassword] = useState('');
  const give = useMutation({
    mutationFn: () => givePassword(login.trim(), password),
    onSuccess: async () => {
      await queries.refetchQueries({ queryKey: WAYS_KEY });
      onDone();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    give.mutate();
  };
  const hasPassword = ended?.signs_in_with !== 'oidc';
  return (
    <form className={styles.card} onSubmit={submit}>
      <h1>{signIn.title}</h1>
      {ended !== null && <EndedNote login={ended.login} />}
      {isOver && give.isIdle && <p role="alert">{signIn.outcomes.over}</p>}
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

interface CodeStepProps {
  /** Whose code it is; null: not known. */
  readonly login: string | null;
  readonly onBack: () => void;
  readonly onOver: () => void;
}

function CodeStep({ login, onBack, onOver }: CodeStepProps) {
  const texts = useTexts();
  const { signIn } = texts;
  const queries = useQueryClient();
  const [code, setCode] = useState('');
  const [isRecovery, setRecovery] = useState(false);
  const give = useMutation({
    mutationFn: () => giveCode(code),
    onSuccess: () => queries.invalidateQueries({ queryKey: SESSION_KEY }),
    onError: async () => {
      await queries.refetchQueries({ queryKey: WAYS_KEY });
      // Then no code is right any more.
      if (queries.getQueryData<WaysIn>(WAYS_KEY)?.needs_code !== false) return;
      // In another tab it may have been given.
      await queries.refetchQueries({ queryKey: SESSION_KEY });
      onOver();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    give.mutate();
  };
  return (
    <form className={styles.card} onSubmit={submit}>
      <h1>{signIn.title}</h1>
      {login !== null && <p>{signIn.signingIn(login)}</p>}
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
