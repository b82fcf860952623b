/** Password and code, given again. */
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { failureText } from '../api/failure.ts';
import { proveAgain } from '../api/session.ts';
import { DialogButtons } from '../base-ui/dialog.tsx';
import { useTexts } from '../texts/texts.ts';
import styles from './sign-in.module.css';

interface AgainHereProps {
  readonly login: string;
  readonly onProved: () => void;
  readonly onCancel: () => void;
}

export function AgainHere({ login, onProved, onCancel }: AgainHereProps) {
  const texts = useTexts();
  const { frame, signIn } = texts;
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const prove = useMutation({ mutationFn: () => proveAgain(password, code), onSuccess: onProved });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    prove.mutate();
  };
  return (
    <form className={styles.again} onSubmit={submit}>
      {/* For password managers. */}
      <input type="text" autoComplete="username" hidden readOnly value={login} />
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
      <label>
        {signIn.code}
        <input
          autoComplete="one-time-code"
          required
          value={code}
          onChange={({ target }) => setCode(target.value)}
        />
      </label>
      {prove.isError && <p role="alert">{failureText(prove.error, texts, { 403: signIn.wrongProof })}</p>}
      <DialogButtons>
        <button type="submit" data-main disabled={prove.isPending}>
          {signIn.prove}
        </button>
        <button type="button" onClick={onCancel}>
          {frame.cancel}
        </button>
      </DialogButtons>
    </form>
  );
}
