/**
 * Opens the listener of the operators' console with the routes of accounts and of the desk (docs/operators.md). Opens
 * a port, notes its address in the data directory of the embedded store for the commands, and asks the database whether
 * somebody can sign in.
 */
import type { FastifyInstance } from 'fastify';
import { isLoopbackAddress } from '../../ground/base/loopback.ts';
import { schemaFit } from '../../ground/schema/migrations.ts';
import type { StoreView } from '../../program/operations/operator-context.ts';
import { REVIEW_DUE_HOURS, SECOND_LOOK_SHARE, UNDO_SECONDS } from '../../subjects/desk/settings.ts';
import {
  CONSOLE_HOST,
  CONSOLE_PORT,
  CONSOLE_TRUSTED_PROXIES,
  consoleOrigin,
  NEXT_PORT,
  oidcConfig,
} from '../../subjects/operators/settings.ts';
import { realFactorsOn, termsNow } from '../../subjects/signing/subject.ts';
import { templatesAt } from '../channel.ts';
import { type Config, ConfigError } from '../config/config.ts';
import type { OpenStore, Store } from '../open-store.ts';
import { roleFault } from '../prepare-tables.ts';
import { loadConsoleRoutes } from '../subjects.ts';
import { type Listener, openListener, portOf } from './listen.ts';
import { type BrowserListener, builtPage, NO_BROWSERS, noted, type Surroundings } from './noted.ts';

/**
 * Listens on `CONSOLE_PORT`. If it is not set, the embedded store has its console at the number after `OPS_PORT`, or at
 * any free port if that one is taken, because a default must not stop a start. Throws a `ConfigError` if the address
 * cannot be used, and if others could reach a console to which nobody can sign in.
 */
export async function startOperatorListener(
  config: Config,
  { database, vault, clock, place }: Pick<OpenStore, keyof Store | 'place'>,
  { log, logFailure, page, watcher }: Surroundings,
): Promise<BrowserListener> {
  const { setting, databaseUrl, dataDir } = config;
  const host = setting(CONSOLE_HOST);
  const given = setting(CONSOLE_PORT);
  if (given === null && databaseUrl !== null) return NO_BROWSERS;
  const oidc = oidcConfig(setting);
  const [
    { browserApi },
    { accountRoutes },
    policies,
    { deskRoutes },
    { businessRoutes },
    { operatorRoutes },
    consoleRoutes,
    { canSomebodySignIn },
    { openDeskFiles },
  ] = await Promise.all([
    import('../../listeners/browser/browser-api.ts'),
    import('../../subjects/operators/routes/accounts.ts'),
    policyRoutesOf(),
    import('../../subjects/desk/routes/desk-routes.ts'),
    import('../../subjects/business/routes/business.ts'),
    import('../../subjects/operators/routes/operators.ts'),
    loadConsoleRoutes({
      ...{ database, vault, clock, setting, view: viewOf(database, place) },
      readTemplates: templatesAt(config, clock),
    }),
    import('../../subjects/operators/sql/operators.ts'),
    import('../../subjects/documents/open.ts'),
  ]);
  if (!isLoopbackAddress(host) && !(await canSomebodySignIn(database, vault))) {
    throw new ConfigError(
      'CONSOLE_HOST',
      'must be an address of this machine alone until an operator has set the factors: npx ventanilla operator add comes first',
    );
  }
  const store = { database, vault, clock };
  const open = async (port: number): Promise<Listener & { readonly origin: string }> => {
    const origin = (): string => consoleOrigin(setting, app.server.listening ? portOf(app) : port);
    const accounts = await accountRoutes({
      ...store,
      oidc,
      origin,
      logFailure,
      onTry: (step, result) => watcher.triedToSignIn(step, result),
    });
    const app: FastifyInstance = browserApi({
      ...store,
      whose: 'operator',
      proxies: setting(CONSOLE_TRUSTED_PROXIES),
      routes: [
        ...accounts,
        ...policies({
          ...store,
          logFailure,
          undoSeconds: setting(UNDO_SECONDS),
          realFactorsOn: (today) => realFactorsOn(setting, today),
        }),
        ...deskRoutes(deskOf(store, setting), () => openDeskFiles(setting, store.clock, watcher)),
        ...businessRoutes(store),
        ...consoleRoutes,
        ...operatorRoutes(store),
      ],
      origin,
      page: builtPage(page, log, 'console'),
      logFailure,
    });
    const at = ['CONSOLE_HOST', host] as const;
    const { close } = await openListener(app, at, ['CONSOLE_PORT', port], log, 'the console answers');
    return { close, origin: origin() };
  };
  const openNext = () =>
    open(setting(NEXT_PORT)).catch((error: unknown) => {
      if (error instanceof ConfigError) return open(0);
      throw error;
    });
  const listener = await (given === null ? openNext() : open(given));
  // Services of several machines may share such a store, and a command does not read their folders.
  return databaseUrl === null ? noted(listener, 'operator', { dataDir, log }) : listener;
}

/** The store of the service, as its status is read. */
function viewOf(database: Store['database'], place: string): StoreView {
  return {
    database,
    place,
    schema: () => schemaFit(database),
    roleFault: async () => (await roleFault(database))?.text ?? null,
  };
}

/** What the desk needs, as the settings say. */
function deskOf(store: Pick<Store, 'database' | 'vault' | 'clock'>, setting: Config['setting']) {
  return {
    ...store,
    dueHours: setting(REVIEW_DUE_HOURS),
    undoSeconds: setting(UNDO_SECONDS),
    lookShare: setting(SECOND_LOOK_SHARE),
    terms: termsNow(store, setting),
  };
}

/** Loads the routes about policies: their versions, and what they decide. */
async function policyRoutesOf() {
  const [{ policyRoutes }, { trialRoutes }, { holdAdmins }] = await Promise.all([
    import('../../subjects/policies/routes/policies.ts'),
    import('../../subjects/evaluation/routes/trials.ts'),
    import('../../subjects/operators/sql/admins.ts'),
  ]);
  type Desk = Omit<Parameters<typeof policyRoutes>[0], 'holdAdmins'>;
  return (desk: Desk & Parameters<typeof trialRoutes>[0]) => [
    ...policyRoutes({ ...desk, holdAdmins }),
    ...trialRoutes(desk),
  ];
}
