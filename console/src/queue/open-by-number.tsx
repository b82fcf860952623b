/** Opens an application whose number is known. */
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useTexts } from '../texts/texts.ts';
import styles from './queue.module.css';

export function OpenByNumber() {
  const { application } = useTexts();
  const [, navigate] = useLocation();
  const [id, setId] = useState('');
  return (
    <form
      className={styles.byNumber}
      onSubmit={(event) => {
        event.preventDefault();
        navigate(`/applications/${id}`);
      }}
    >
      <input
        required
        aria-label={application.number}
        placeholder={application.number}
        inputMode="numeric"
        pattern="[1-9][0-9]{0,14}"
        autoComplete="off"
        value={id}
        onChange={({ target }) => setId(target.value.trim())}
      />
      <button type="submit">{application.open}</button>
    </form>
  );
}
