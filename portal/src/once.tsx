/** A secret that is shown once: a key or a link. It is gone with its dialog. */
import { useState } from 'react';
import { Dialog, DialogButtons } from '../../console/src/base-ui/dialog.tsx';
import { useTexts } from '../../console/src/texts/texts.ts';
import styles from './portal.module.css';
import { usePortalTexts } from './texts.ts';

interface OnceProps {
  /** null: there is nothing to show. */
  readonly secret: string | null;
  readonly title: string;
  readonly note: string;
  readonly onClose: () => void;
}

export function Once({ secret, title, note, onClose }: OnceProps) {
  const { frame } = useTexts();
  return (
    <Dialog isOpen={secret !== null} onClose={onClose} title={title} note={note}>
      {secret !== null && <Secret key={secret} text={secret} />}
      <DialogButtons>
        <button type="button" data-main onClick={onClose}>
          {frame.close}
        </button>
      </DialogButtons>
    </Dialog>
  );
}

function Secret({ text }: { text: string }) {
  const { once } = usePortalTexts();
  const [isCopied, setCopied] = useState(false);
  const copy = () => void navigator.clipboard.writeText(text).then(() => setCopied(true));
  return (
    <p className={styles.secret}>
      <code>{text}</code>
      <button type="button" onClick={copy}>
        {once.copy}
      </button>
      <span role="status">{isCopied && once.copied}</span>
    </p>
  );
}
