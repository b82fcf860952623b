/** What an operator does behind the link: a password, the authenticator app, the recovery codes. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { faultOfPassword, LONGEST, SHORTEST } from '../../../src/subjects/operators/rules/password.ts';
import { failureText } from '../api/failure.ts';
import { addApp, beginBinding, beginEnrolment, endEnrolment, lookAtLink } from '../api/session.ts';
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
  const link = useLink(token);
  if (codes !== null) return <RecoveryCodes codes={codes} onDone={onDone} />;
  if (begun !== null) return <AppStep token={token} begun={begun} onDone={setCodes} />;
  if (link === undefined) return <Loading />;
  if (link === null) return <UsedLink onDone={onDone} />;
  if (isBound) return <BoundStep token={token} onDone={setBegun} />;
  return <PasswordStep token={token} login={link} onDone={setBegun} />;
}

/**
 * Whose link it is, as it was at the opening; null: it may not be used; undefined: not known yet. What nobody told is
 * tried, without a login.
 */
function useLink(token: string): string | null | undefined {
  const { data, isError } = useQuery({
    queryKey: ['link', token],
    queryFn: () => lookAtLink(token),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  return isError ? '' : data;
}

/** The check for known passwords. Its words are a file of their own, which only this page loads. */
function useIsKnown() {
  const { data } = useQuery({
    queryKey: ['known passwords'],
    queryFn: async () =>
      (await import('../../../src/subjects/operators/rules/known-password.ts')).isKnownPassword,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  // Without the words the service says it.
  return data ?? (() => false);
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

function PasswordStep({ token, login, onDone }: StepProps & { login: string }) {
  const texts = useTexts();
  const { signIn } = texts;
  const [password, setPassword] = useState('');
  const [isGiven, setGiven] = useState(false);
  const isKnown = useIsKnown();
  const begin = useMutation({ mutationFn: () => beginEnrolment(token, password), onSuccess: onDone });
  const fault = faultOfPassword(password, login, isKnown);
  // Nobody is told that a password is too short while they type it.
  const isTold = fault !== null && (isGiven || fault !== 'short');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setGiven(true);
    if (fault === null) begin.mutate();
  };
  const known = { 400: signIn.badPassword, 404: signIn.badLink };
  return (
    <form className={styles.card} onSubmit={submit}>
      <h1>{signIn.enrolTitle}</h1>
      {login !== '' && <p>{signIn.settingUp(login)}</p>}
      <p>{signIn.choosePassword(SHORTEST, LONGEST)}</p>
      <PasswordField isNew value={password} onChange={setPassword} {...(login !== '' && { login })} />
      {isTold && <p role="alert">{signIn.faults[fault](login, SHORTEST, LONGEST)}</p>}
      {begin.isError && fault === null && <p role="alert">{failureText(begin.error, texts, known)}</p>}
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
      <KeepCodes codes={codes} />
      <button type="button" data-main onClick={onDone}>
        {signIn.done}
      </button>
    </section>
  );
}

/** The codes in the clipboard, or in a file. It says where they are for, and nothing of the person. */
function KeepCodes({ codes }: { codes: readonly string[] }) {
  const { signIn } = useTexts();
  const [kept, setKept] = useState<string | null>(null);
  const text = `${signIn.codesTitle}, ${location.origin}\n${signIn.codesNote}\n\n${codes.join('\n')}\n`;
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setKept(signIn.codesCopied),
      () => setKept(signIn.codesNotCopied),
    );
  const save = () => {
    const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
    const link = Object.assign(document.createElement('a'), { href: url, download: 'recovery-codes.txt' });
    link.click();
    URL.revokeObjectURL(url);
    setKept(signIn.codesSaved);
  };
  return (
    <>
      <div className={styles.keep}>
        {/* Without a secure context there is no clipboard. */}
        {navigator.clipboard !== undefined && (
          <button type="button" onClick={copy}>
            {signIn.copyCodes}
          </button>
        )}
        <button type="button" onClick={save}>
          {signIn.saveCodes}
        </button>
      </div>
      <p role="status">{kept}</p>
    </>
  );
}
