/** Shortcuts of one key, which the operator can switch off (WCAG 2.1.4). */
import { useEffect, useRef, useSyncExternalStore } from 'react';

const STORED = 'shortcuts';
const OFF = 'off';
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether they are on. The browser keeps only that they are off. */
export function useAreShortcutsOn(): boolean {
  return useSyncExternalStore(subscribe, areOn);
}

function areOn(): boolean {
  return localStorage.getItem(STORED) !== OFF;
}

export function switchShortcuts(on: boolean): void {
  if (on) localStorage.removeItem(STORED);
  else localStorage.setItem(STORED, OFF);
  for (const listener of listeners) listener();
}

/** What each key does; the key is that of `KeyboardEvent.key`. */
export type Shortcuts = Readonly<Record<string, (() => void) | undefined>>;

/** The keys of the help and of the search, which many keyboards type with Shift. */
const WITH_SHIFT = new Set(['?', '/']);
/** Moving on may go on while a key is held; anything else happens once. */
const MAY_REPEAT = new Set(['j', 'k']);
const TYPED_IN =
  'textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=button])';
/** One that is closed may be in the page for a moment. */
const DIALOGS = '[role=dialog]:not([data-closed]), [role=alertdialog]:not([data-closed]), dialog[open]';

/** Whether the key is meant for the page: nothing is typed, no dialog is open and no modifier is held. */
export function isForPage(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.altKey || event.metaKey)
    return false;
  if (event.shiftKey && !WITH_SHIFT.has(event.key)) return false;
  if (event.repeat && !MAY_REPEAT.has(event.key.toLowerCase())) return false;
  if (event.target instanceof Element && event.target.closest(TYPED_IN) !== null) return false;
  return document.querySelector(DIALOGS) === null;
}

/** Listens as long as the component is shown. Of two components with the same key the inner one comes first. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const current = useRef(shortcuts);
  useEffect(() => {
    current.current = shortcuts;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const act = current.current[event.key.toLowerCase()];
      if (act === undefined || !areOn() || !isForPage(event)) return;
      event.preventDefault();
      act();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}
