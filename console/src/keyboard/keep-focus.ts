/** Keeps the place of the keyboard where what had the focus leaves the page. */

/**
 * Browsers let the focus fall to the body then: a reader of the screen hears nothing of what came instead. Here the
 * nearest part around that is left gets it, and of a whole page its heading. What takes the focus by itself, such as a
 * dialog that opens or gives it back, has done so by the next frame.
 */
export function keepFocus(document: Document): void {
  /** What had the focus last, and what stands around it, from the inside out. */
  let around: HTMLElement[] = [];
  document.addEventListener('focusin', ({ target }) => {
    around = [];
    for (
      let part = target;
      part instanceof HTMLElement && part !== document.body;
      part = part.parentElement
    ) {
      around.push(part);
    }
  });
  // Who clicks beside it has left it.
  document.addEventListener('pointerdown', () => {
    around = [];
  });
  const look = () => {
    const [had] = around;
    if (had === undefined || had.isConnected || document.activeElement !== document.body) return;
    const left = around.find((part) => part.isConnected) ?? document.querySelector('main');
    const taker = left?.matches('main') ? (left.querySelector('h1') ?? left) : left;
    if (!taker) return;
    if (taker.tabIndex < 0) taker.tabIndex = -1;
    taker.focus({ preventScroll: true });
  };
  let isAsked = false;
  new MutationObserver(() => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      look();
    });
  }).observe(document.body, { childList: true, subtree: true });
}
