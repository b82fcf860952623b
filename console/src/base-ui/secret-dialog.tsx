/** Shows a secret once: a key or a link. It is gone with the dialog. */
import { type ReactNode, useState } from 'react';
import { Dialog, DialogButtons } from './dialog.tsx';
import styles from './secret.module.css';

interface SecretDialogProps {
  readonly title: string;
  readonly note: ReactNode;
  readonly secret: string;
  readonly texts: Readonly<Record<'copy' | 'copied' | 'notCopied' | 'close', string>>;
  readonly onClose: () => void;
}

export function SecretDialog({ title, note, secret, texts, onClose }: SecretDialogProps) {
  const [copied, setCopied] = useState<'yes' | 'no' | null>(null);
  const copy = () =>
    navigator.clipboard.writeText(secret).then(
      () => setCopied('yes'),
      () => setCopied('no'),
    );
  return (
    <Dialog isOpen onClose={onClose} title={title} note={note}>
      <code className={styles.secret}>{secret}</code>
      <p role="status">{copied !== null && (copied === 'yes' ? texts.copied : texts.notCopied)}</p>
      <DialogButtons>
        <button type="button" data-main onClick={() => void copy()}>
          {texts.copy}
        </button>
        <button type="button" onClick={onClose}>
          {texts.close}
        </button>
      </DialogButtons>
    </Dialog>
  );
}
