/** A sign-in again at the identity provider, in a tab of its own: this one keeps the act. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { failureText } from '../api/failure.ts';
import { beginAgainAtProvider, readSession } from '../api/session.ts';
import { DialogButtons } from '../base-ui/dialog.tsx';
import { useTexts } from '../texts/texts.ts';
import { OtherTab } from './at-provider.tsx';
import { CodeField } from './fields.tsx';
import styles from './sign-in.module.css';

const POLL_MS = 2_000;
const FRESH_S = 300;

interface AgainAtProviderProps {
  /** The account has an app, whose code comes first. */
  readonly hasApp: boolean;
  readonly onProved: () => void;
  readonly onCancel: () => void;
}

export function AgainAtProvider({ hasApp, onProved, onCancel }: AgainAtProviderProps) {
  const texts = useTexts();
  const { frame, signIn } = texts;
  const [code, setCode] = useState('');
  const begin = useMutation({ mutationFn: () => beginAgainAtProvider(hasApp ? code : null) });
  useProof(begin.isSuccess, onProved);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    begin.mutate();
  };
  const known = { 403: signIn.badCode, 502: signIn.outcomes.away };
  return (
    <form className={styles.again} onSubmit={submit}>
      {hasApp && !begin.isSuccess && <CodeField kind="either" value={code} onChange={setCode} />}
      {begin.isError && <p role="alert">{failureText(begin.error, texts, known)}</p>}
      {begin.isSuccess && <OtherTab address={begin.data} />}
      <DialogButtons>
        {!begin.isSuccess && (
          <button type="submit" data-main disabled={begin.isPending}>
            {signIn.next}
          </button>
        )}
        <button type="button" onClick={onCancel}>
          {frame.cancel}
        </button>
      </DialogButtons>
    </form>
  );
}

/** Looks for the proof that the other tab brings. */
function useProof(isWaiting: boolean, onProved: () => void): void {
  const { data } = useQuery({
    queryKey: ['proof'],
    queryFn: readSession,
    refetchInterval: POLL_MS,
    enabled: isWaiting,
    // What was read before this dialog opened is no proof.
    gcTime: 0,
    refetchIntervalInBackground: true,
  });
  const isProved = isWaiting && data !== undefined && data !== null && data.proved_seconds_ago < FRESH_S;
  const isTold = useRef(false);
  useEffect(() => {
    if (!isProved || isTold.current) return;
    isTold.current = true;
    onProved();
  }, [isProved, onProved]);
}
