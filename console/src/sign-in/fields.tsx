/** The fields in which an operator proves who they are. */
import { useTexts } from '../texts/texts.ts';

interface FieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

interface PasswordFieldProps extends FieldProps {
  /** Whose it is, where the form does not ask for that: password managers look for it. */
  readonly login?: string;
  readonly isNew?: boolean;
}

export function PasswordField({ value, onChange, login, isNew = false }: PasswordFieldProps) {
  const { signIn } = useTexts();
  return (
    <>
      {login !== undefined && <input type="text" autoComplete="username" hidden readOnly value={login} />}
      <label>
        {signIn.password}
        <input
          type="password"
          autoComplete={isNew ? 'new-password' : 'current-password'}
          required
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      </label>
    </>
  );
}

interface CodeFieldProps extends FieldProps {
  /** What may be typed: a code of the app, a recovery code, or either of them. */
  readonly kind: 'app' | 'recovery' | 'either';
  readonly isFocused?: boolean;
}

export function CodeField({ value, onChange, kind, isFocused = false }: CodeFieldProps) {
  const { signIn } = useTexts();
  return (
    <label>
      {kind === 'recovery' ? signIn.recoveryCode : signIn.code}
      <input
        // biome-ignore lint/a11y/noAutofocus: the field is the one thing of its step.
        autoFocus={isFocused}
        autoComplete="one-time-code"
        inputMode={kind === 'app' ? 'numeric' : 'text'}
        required
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}
