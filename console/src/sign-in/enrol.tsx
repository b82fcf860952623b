/** What an operator does behind the link: a password, the authenticator app, the recovery codes. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { FEWEST_DIFFERENT, LONGEST, SHORTEST } from '../../../src/operators/rules/password.ts';
import { failureText } from '../api/failure.ts';
import { addApp, beginBinding, beginEnrolment, endEnrolment, isLinkUsable } from '../api/session.ts';
import { useTexts } from '../texts/texts.ts';
import { AtProvider } from './at-provider.tsx';
import { CodeField, PasswordField } from './fields.tsx';
import { QrCode } from './qr-code.tsx';
import styles from './sign-in.module.css';

interface EnrolProps {
  readonly token: string;
  /** The first factor is at the identity provider already. */
  readonly isBound: boolean;
  readonly onDone: () => void;
}

export function Enrol({ token, isBound, onDone }: EnrolProps) {
  const [begun, setBegun] = useState<{ login: string; totp: string } | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const isUsable = useLink(token);
  if (codes !== null) return <RecoveryCodes codes={codes} onDone={onDone} />;
  if (begun !== null) return <AppStep token={token} begun={begun} onDone={setCodes} />;
  if (isUsable === undefined) return <Loading />;
  if (!isUsable) return <UsedLink onDone={onDone} />;
  if (isBound) return <BoundStep token={token} onDone={setBegun} />;
  return <PasswordStep token={token} onDone={setBegun} />;
}

/** Whether the link may be used, as it was at the opening; undefined: not known yet. What nobody told is tried. */
function useLink(token: string): boolean | undefined {
  const { data, isError } = useQuery({
    queryKey: ['link', token],
    queryFn: () => isLinkUsable(token),
    ...{ staleTime: Number.POSITIVE_INFINITY, gcTime: 0, retry: false },
  });
  return data ?? (isError || undefined);
}

function Loading() {
  const { frame } = useTexts();
  return <p>{frame.loading}</p>;
}

function UsedLink({ onDone }: { onDone: () => void }) {
  const { signIn } = useTexts();
  return (
    <section className={styles.card}>
      <h1>{signIn.enrolTitle}</h1>
      <p role="alert">{signIn.badLink}</p>
      <p>{signIn.hasAccount}</p>
      <button type="button" data-main onClick={onDone}>
        {signIn.title}
      </button>
    </section>
  );
}

/** After the identity provider, which asked for no second factor. */
function BoundStep({ token, onDone }: StepProps) {
  const texts = useTexts();
  const { signIn } = texts;
  const begin = useMutation({ mutationFn: () => addApp(token), onSuccess: onDone });
  return (
    <section className={styles.card}>
      <h1>{signIn.enrolTitle}</h1>
      <p>{signIn.bound}</p>
      {begin.isError && <p role="alert">{failureText(begin.error, texts, { 404: signIn.badLink })}</p>}
      <button type="button" data-main disabled={begin.isPending} onClick={() => begin.mutate()}>
        {signIn.next}
      </button>
    </section>
  );
}

interface StepProps {
  readonly token: string;
  readonly onDone: (begun: { login: string; totp: string }) => void;
}

function PasswordStep({ token, onDone }: StepProps) {
  const texts = useTexts();
  const { signIn } = texts;
  const [password, setPassword] = useState('');
  const begin = useMutation({ mutationFn: () => beginEnrolment(token, password), onSuccess: onDone });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    begin.mutate();
  };
  const known = { 400: signIn.badPassword, 404: signIn.badLink };
  return (
    <form className={styles.card} onSubmit={submit}>
      <h1>{signIn.enrolTitle}</h1>
      <p>{signIn.choosePassword(SHORTEST, LONGEST, FEWEST_DIFFERENT)}</p>
      <PasswordField isNew value={password} onChange={setPassword} />
      {begin.isError && <p role="alert">{failureText(begin.error, texts, known)}</p>}
      <button type="submit" data-main disabled={begin.isPending}>
        {signIn.next}
      </button>
      <AtProvider begin={() => beginBinding(token)} known={{ 404: signIn.badLink }} />
    </form>
  );
}

interface AppStepProps {
  readonly token: string;
  readonly begun: { readonly login: string; readonly totp: string };
  readonly onDone: (codes: readonly string[]) => void;
}

function AppStep({ token, begun, onDone }: AppStepProps) {
  const texts = useTexts();
  const { signIn } = texts;
  const [code, setCode] = useState('');
  const end = useMutation({ mutationFn: () => endEnrolment(token, code), onSuccess: onDone });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    end.mutate();
  };
  const known = { 400: signIn.badCode, 404: signIn.badLink };
  return (
    <form className={styles.card} onSubmit={submit}>
      <h1>{begun.login}</h1>
      <p>{signIn.scan}</p>
      <QrCode className={styles.qr} text={begun.totp} label={signIn.qrCode} />
      <p>
        {signIn.key}: <span className={styles.key}>{new URL(begun.totp).searchParams.get('secret')}</span>
      </p>
      <CodeField kind="app" value={code} onChange={setCode} />
      {end.isError && <p role="alert">{failureText(end.error, texts, known)}</p>}
      <button type="submit" data-main disabled={end.isPending}>
        {signIn.confirm}
      </button>
    </form>
  );
}

function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) {
  const { signIn } = useTexts();
  return (
    <section className={styles.card}>
      <h1>{signIn.codesTitle}</h1>
      <p>{signIn.codesNote}</p>
      <ol className={styles.codes}>
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ol>
      <button type="button" data-main onClick={onDone}>
        {signIn.done}
      </button>
    </section>
  );
}
