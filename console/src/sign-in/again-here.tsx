/** Password and code, given again. */
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { failureText } from '../api/failure.ts';
import { proveAgain } from '../api/session.ts';
import { DialogButtons } from '../base-ui/dialog.tsx';
import { useTexts } from '../texts/texts.ts';
import { CodeField, PasswordField } from './fields.tsx';
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
      <PasswordField login={login} value={password} onChange={setPassword} />
      <CodeField kind="either" value={code} onChange={setCode} />
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
