/** The variables of the operators' console. */
import { isLoopback } from '../base/loopback.ts';
import { type ReadSetting, readPort, type Setting } from '../base/setting.ts';

/** CONSOLE_PORT; null: the process has no console. */
export const CONSOLE_PORT: Setting<number | null> = {
  variable: 'CONSOLE_PORT',
  read: (text) => (text === undefined ? null : readPort(text)),
};

/** CONSOLE_HOST. */
export const CONSOLE_HOST: Setting<string> = {
  variable: 'CONSOLE_HOST',
  read: (text = '127.0.0.1') => text,
};

/**
 * CONSOLE_URL, the origin under which browsers reach the console; null: this machine's own. Nothing that a request says
 * takes its place.
 */
export const CONSOLE_URL: Setting<string | null> = {
  variable: 'CONSOLE_URL',
  read: (text) => {
    if (text === undefined) return null;
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url === null || url.origin !== text.replace(/\/$/, '') || !isSafe(url)) {
      throw new RangeError(
        'must be an origin such as https://desk.example.com; http:// is for this machine alone',
      );
    }
    return url.origin;
  },
};

/** A session's cookie may not cross a network that others read. */
function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

const DEFAULT_PORT = 8082;

/**
 * The origin of the console. `localhost` stands for this machine, because a browser's passkeys and cookies need a name.
 * `port` is the one that is open.
 */
export function consoleOrigin(setting: ReadSetting, port = setting(CONSOLE_PORT)): string {
  return setting(CONSOLE_URL) ?? `http://localhost:${port ?? DEFAULT_PORT}`;
}
