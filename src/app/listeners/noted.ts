/**
 * What the listeners of the console and of the portal share: the page that was built, and the note of their place for
 * the commands. Writes a file in the data directory.
 */
import type { Logger } from 'pino';
import type { Whose } from '../../domain/operator/session.ts';
import { errorFields } from '../../ground/base/describe-error.ts';
import type { Page } from '../../listeners/browser/page.ts';
import type { LogFailure } from '../../program/operations/failure-log.ts';
import type { Watcher } from '../../program/subject/watcher.ts';
import { forgetPlace, notePlace } from '../../subjects/operators/uses/console-place.ts';
import type { FoundPage } from '../built-page.ts';
import { type Listener, NO_LISTENER } from './listen.ts';

/** A listener for browsers; `origin` is where they reach it, null if there is none. */
export interface BrowserListener extends Listener {
  readonly origin: string | null;
}

/** For a process without such a listener. */
export const NO_BROWSERS: BrowserListener = { ...NO_LISTENER, origin: null };

/** What such a listener gets of the process. */
export interface Surroundings {
  readonly log: Logger;
  readonly logFailure: LogFailure;
  readonly page: Promise<FoundPage>;
  readonly watcher: Watcher;
}

/** The page, where it is there. The log says why it was not built. */
export function builtPage(found: Promise<FoundPage>, log: Logger, name: string): Promise<Page | null> {
  return found.then(({ page, failure }) => {
    if (failure !== null) log.warn({ failure }, `the page of the ${name} was not built`);
    return page;
  });
}

/** The listener, whose place is noted until it closes. */
export async function noted(
  listener: Listener & { readonly origin: string },
  whose: Whose,
  { dataDir, log }: { readonly dataDir: string; readonly log: Logger },
): Promise<BrowserListener> {
  const { origin } = listener;
  await notePlace(dataDir, whose, origin).catch((error: unknown) =>
    log.warn({ error: errorFields(error) }, 'the place of a page could not be noted for the commands'),
  );
  const close = async (): Promise<void> => {
    await forgetPlace(dataDir, whose, origin);
    await listener.close();
  };
  return { close, origin };
}
