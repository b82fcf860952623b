/** A button that shows and hides what stands behind it: Escape, and the focus that leaves it, hide it again. */
import { type ReactNode, useId, useRef, useState } from 'react';
import styles from './frame.module.css';

interface DisclosureProps {
  /** What the button says; `name` is what is read out, where that is more. */
  readonly label: ReactNode;
  readonly name?: string;
  /** The page is one of those behind the button. */
  readonly isCurrent?: boolean;
  readonly className: string | undefined;
  readonly panelClassName: string | undefined;
  readonly children: ReactNode;
}

export function Disclosure(props: DisclosureProps) {
  const { label, name, isCurrent = false, className, panelClassName, children } = props;
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only hears what its button and fields get.
    <div
      className={className}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) setOpen(false);
      }}
      onKeyDown={({ key }) => {
        if (key !== 'Escape') return;
        setOpen(false);
        button.current?.focus();
      }}
    >
      <button
        ref={button}
        type="button"
        className={styles.discloses}
        aria-label={name}
        aria-expanded={isOpen}
        aria-controls={id}
        data-current={isCurrent || undefined}
        onClick={() => setOpen(!isOpen)}
      >
        <span>{label}</span> <span aria-hidden="true">▾</span>
      </button>
      {/* Without the focus a click into it would close it. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a link in it leads to another page, so it closes. */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link is a click. */}
      <div
        id={id}
        className={panelClassName}
        hidden={!isOpen}
        tabIndex={-1}
        onClick={({ target }) => {
          if (target instanceof Element && target.closest('a') !== null) setOpen(false);
        }}
      >
        {children}
      </div>
    </div>
  );
}
