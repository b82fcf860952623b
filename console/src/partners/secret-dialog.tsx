/** Shows a key or a signing secret once. It is gone with the dialog. */
import { useState } from 'react';
import { Dialog, DialogButtons } from '../base-ui/dialog.tsx';
import { useTexts } from '../texts/texts.ts';
import { usePartnerTexts } from './partner-texts.ts';
import styles from './partners.module.css';

export function SecretDialog({
  title,
  secret,
  onClose,
}: {
  title: string;
  secret: string;
  onClose: () => void;
}) {
  const texts = usePartnerTexts();
  const { frame } = useTexts();
  const [copied, setCopied] = useState<'yes' | 'no' | null>(null);
  const copy = () =>
    navigator.clipboard.writeText(secret).then(
      () => setCopied('yes'),
      () => setCopied('no'),
    );
  return (
    <Dialog isOpen onClose={onClose} title={title} note={<p>{texts.shownOnce}</p>}>
      <code className={styles.secret}>{secret}</code>
      <p role="status">{copied !== null && (copied === 'yes' ? texts.copied : texts.notCopied)}</p>
      <DialogButtons>
        <button type="button" data-main onClick={() => void copy()}>
          {texts.copy}
        </button>
        <button type="button" onClick={onClose}>
          {frame.close}
        </button>
      </DialogButtons>
    </Dialog>
  );
}
