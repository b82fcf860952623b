/**
 * Opens the listener of the portal, where people at partners sign in (D54, docs/portal.md). Opens a port, and notes its
 * address in the data directory of the embedded store for the commands.
 */
import type { FastifyInstance } from 'fastify';
import type { BatchIntake } from '../../subjects/applications/routes/portal.ts';
import {
  PORTAL_HOST,
  PORTAL_PORT,
  PORTAL_TRUSTED_PROXIES,
  portalOrigin,
} from '../../subjects/operators/settings.ts';
import type { Route } from '../../wire/operator/route.ts';
import type { Config } from '../config/config.ts';
import type { Store } from '../open-store.ts';
import { loadPortalRoutes } from '../subjects.ts';
import { openListener, portOf } from './listen.ts';
import { type BrowserListener, builtPage, NO_BROWSERS, noted, type Surroundings } from './noted.ts';

/** Listens on `PORTAL_PORT`, where it is set. Throws a `ConfigError` if the address cannot be used. */
export async function startPortalListener(
  { setting, databaseUrl, dataDir }: Config,
  store: Pick<Store, 'database' | 'vault' | 'clock'>,
  { log, logFailure, page, watcher }: Surroundings,
  intake: BatchIntake,
): Promise<BrowserListener> {
  const port = setting(PORTAL_PORT);
  if (port === null) return NO_BROWSERS;
  const { database, vault, clock } = store;
  const { browserApi } = await import('../../listeners/browser/browser-api.ts');
  const origin = (): string => portalOrigin(setting, app.server.listening ? portOf(app) : port);
  const routes = await portalRoutes(
    { database, vault, clock },
    { origin, onTry: (step, result) => watcher.triedToSignIn(step, result) },
    intake,
  );
  const app: FastifyInstance = browserApi({
    ...{ whose: 'partner', database, vault, clock, routes, origin, logFailure },
    proxies: setting(PORTAL_TRUSTED_PROXIES),
    page: builtPage(page, log, 'portal'),
  });
  const at = ['PORTAL_HOST', setting(PORTAL_HOST)] as const;
  const { close } = await openListener(app, at, ['PORTAL_PORT', port], log, 'the portal answers');
  const listener = { close, origin: origin() };
  return databaseUrl === null ? noted(listener, 'partner', { dataDir, log }) : listener;
}

type Sharing = Pick<Store, 'database' | 'vault' | 'clock'>;
type Accounts = Parameters<typeof import('../../subjects/operators/routes/portal.ts').portalAccountRoutes>[0];

/** All routes of the portal. */
export async function portalRoutes(
  store: Sharing,
  accounts: Pick<Accounts, 'origin' | 'onTry'>,
  intake: BatchIntake,
): Promise<Route[]> {
  const [{ portalAccountRoutes }, { portalBatchRoutes }, others] = await Promise.all([
    import('../../subjects/operators/routes/portal.ts'),
    import('../../subjects/applications/routes/portal.ts'),
    loadPortalRoutes(store),
  ]);
  return [
    ...(await portalAccountRoutes({ ...store, ...accounts })),
    ...portalBatchRoutes({ ...store, ...intake }),
    ...others,
  ];
}
