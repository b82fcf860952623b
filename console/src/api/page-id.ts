/** The page as the service knows it: a claim is of an operator, and of the pages that use it. */

let page = crypto.randomUUID();
let isKnown = false;

/** The header that names the page, for a request that claims or gives back. */
export function forPage(): Readonly<Record<string, string>> {
  isKnown = true;
  return { 'Operator-Page': page };
}

/** The page that a request names is another one by now. */
export function isPageBefore(header: Readonly<Record<string, string>>): boolean {
  return header['Operator-Page'] !== page;
}

/** From now on the page is another one. Returns the header of the one before; null: no request named it. */
export function changePage(): Readonly<Record<string, string>> | null {
  const before = isKnown ? forPage() : null;
  page = crypto.randomUUID();
  isKnown = false;
  return before;
}
