/** A page that is a file of its own. */
import { Component, type ReactNode, Suspense } from 'react';
import { useTexts } from '../texts/texts.ts';

/**
 * Shows that the page is on its way. Where its file cannot be had, which happens after an upgrade of the service, it
 * offers to load the page anew.
 */
export function LazyPage({ children }: { children: ReactNode }) {
  const { frame } = useTexts();
  return (
    <Boundary instead={<Broken />}>
      <Suspense fallback={<p>{frame.loading}</p>}>{children}</Suspense>
    </Boundary>
  );
}

function Broken() {
  const { frame } = useTexts();
  return (
    <div role="alert">
      <p>{frame.broken}</p>
      <button type="button" onClick={() => location.reload()}>
        {frame.reload}
      </button>
    </div>
  );
}

interface BoundaryProps {
  readonly instead: ReactNode;
  readonly children: ReactNode;
}

class Boundary extends Component<BoundaryProps, { readonly isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError() {
    return { isBroken: true };
  }

  override render() {
    return this.state.isBroken ? this.props.instead : this.props.children;
  }
}
