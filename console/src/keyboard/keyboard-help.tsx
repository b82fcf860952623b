/** The list of the shortcuts, and the setting that switches them off. */
import { useState } from 'react';
import { Dialog, DialogButtons } from '../base-ui/dialog.tsx';
import { useTexts } from '../texts/texts.ts';
import styles from './keyboard.module.css';
import { switchShortcuts, useAreShortcutsOn, useShortcuts } from './shortcuts.ts';

/** The button that opens the help; `?` does too. */
export function KeyboardHelp() {
  const { frame, keyboard } = useTexts();
  const [isOpen, setOpen] = useState(false);
  const areOn = useAreShortcutsOn();
  useShortcuts({ '?': () => setOpen(true) });
  return (
    <>
      <button type="button" data-keys onClick={() => setOpen(true)}>
        {keyboard.button} {areOn && <kbd>?</kbd>}
      </button>
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title={keyboard.title} note={keyboard.note}>
        <label className={styles.switch}>
          <input type="checkbox" checked={areOn} onChange={({ target }) => switchShortcuts(target.checked)} />
          {keyboard.switch}
        </label>
        <table className={styles.keys}>
          <thead>
            <tr>
              <th scope="col">{keyboard.key}</th>
              <th scope="col">{keyboard.does}</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(keyboard.keys).map(([keys, does]) => (
              <tr key={keys}>
                <th scope="row">
                  <kbd>{keys}</kbd>
                </th>
                <td>{does}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <DialogButtons>
          <button type="button" data-main onClick={() => setOpen(false)}>
            {frame.close}
          </button>
        </DialogButtons>
      </Dialog>
    </>
  );
}
