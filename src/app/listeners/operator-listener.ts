/** Opens the console's listener. */
import type { Logger } from 'pino';
import { isLoopback } from '../../base/loopback.ts';
import type { LogFailure } from '../../operations/failure-log.ts';
import { CONSOLE_HOST, CONSOLE_PORT, consoleOrigin } from '../../operators/settings.ts';
import { type Config, ConfigError } from '../config/config.ts';
import type { Store } from '../open-store.ts';
import { type Listener, NO_LISTENER, openListener, portOf } from './listen.ts';

/**
 * Listens on `CONSOLE_PORT` where the variable is set. Throws a `ConfigError` where the address cannot be used, and
 * where others could reach a console without accounts.
 */
export async function startOperatorListener(
  { setting }: Config,
  { database, vault }: Store,
  { log, logFailure }: { log: Logger; logFailure: LogFailure },
): Promise<Listener> {
  const port = setting(CONSOLE_PORT);
  if (port === null) return NO_LISTENER;
  const host = setting(CONSOLE_HOST);
  const [{ consoleApi }, { sessionRoutes }, { enrolmentRoutes }, { hasOperators }] = await Promise.all([
    import('../../operator-api/console-api.ts'),
    import('../../operators/routes/session.ts'),
    import('../../operators/routes/enrolment.ts'),
    import('../../operators/sql/operators.ts'),
  ]);
  if (!isLoopback(host.includes(':') ? `[${host}]` : host) && !(await hasOperators(database))) {
    throw new ConfigError(
      'CONSOLE_HOST',
      'must be an address of this machine alone while there is no operator: npx ventanilla operator add comes first',
    );
  }
  const store = { database, vault };
  const app = consoleApi({
    database,
    routes: [...sessionRoutes(store), ...enrolmentRoutes(store)],
    origin: () => consoleOrigin(setting, app.server.listening ? portOf(app) : port),
    logFailure,
  });
  const at = ['CONSOLE_HOST', host] as const;
  return openListener(app, at, ['CONSOLE_PORT', port], log, 'the console answers');
}
