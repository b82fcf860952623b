/** Dialogs: they hold the focus, Escape closes them, and the focus goes back to where it was. */
import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import styles from './dialog.module.css';

interface DialogProps {
  readonly isOpen: boolean;
  /** What it sends is on its way: it stays until the answer, else nobody would see a failure. */
  readonly isPending?: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** What the dialog is about, read out with its title. */
  readonly note?: ReactNode;
  readonly children: ReactNode;
}

/** A dialog with content of its own, such as a form. A click beside it closes it. */
export function Dialog({ isOpen, isPending = false, onClose, title, note, children }: DialogProps) {
  return (
    <BaseDialog.Root open={isOpen} onOpenChange={(open) => !open && !isPending && onClose()}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className={styles.backdrop} />
        <BaseDialog.Popup className={styles.popup}>
          <BaseDialog.Title className={styles.title}>{title}</BaseDialog.Title>
          {note !== undefined && (
            <BaseDialog.Description render={<div />} className={styles.note}>
              {note}
            </BaseDialog.Description>
          )}
          {children}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

/** The buttons at the end of a dialog. */
export function DialogButtons({ children }: { children: ReactNode }) {
  return <div className={styles.buttons}>{children}</div>;
}
