/** The button of the search, which `/` opens from anywhere. The dialog is a file of its own. */
import { lazy, Suspense, useState } from 'react';
import { useAreShortcutsOn, useShortcuts } from '../keyboard/shortcuts.ts';
import { useTexts } from '../texts/texts.ts';

const FindDialog = lazy(() => import('./find-dialog.tsx'));

/** `isAdmin`: what is found of the service leads to its pages. */
export function Find({ isAdmin }: { isAdmin: boolean }) {
  const { frame } = useTexts();
  const [isOpen, setOpen] = useState(false);
  const [wasOpened, setWasOpened] = useState(false);
  const areOn = useAreShortcutsOn();
  const open = () => {
    setWasOpened(true);
    setOpen(true);
  };
  useShortcuts({ '/': open });
  return (
    <>
      <button type="button" onClick={open}>
        {frame.find} {areOn && <kbd>/</kbd>}
      </button>
      {wasOpened && (
        <Suspense>
          <FindDialog isOpen={isOpen} isAdmin={isAdmin} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
