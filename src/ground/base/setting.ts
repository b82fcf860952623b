/**
 * What a setting is: a variable of the process that one subject alone reads. Also has readers for limits and ports.
 * Pure. `.env.example` lists all variables.
 */

/** What a default may depend on. */
export interface Installation {
  /** DATA_DIR, absolute. */
  readonly dataDir: string;
  /** Whether the process uses the operator's own database, which may hold real people: no demonstration there. */
  readonly ownDatabase: boolean;
  /** Whether the channel is the simulator, whose page this machine alone can reach. */
  readonly isSimulated?: boolean;
}

export interface Setting<T> {
  readonly variable: string;
  /** A variable that may not be set beside this one, unless it is `none`. */
  readonly excludes?: string;
  /** Reads the text, trimmed; undefined if the variable is absent or empty. Throws an error with the rule. */
  readonly read: (text: string | undefined, installation: Installation) => T;
}

/** Gives the value of a setting. */
export type ReadSetting = <T>(setting: Setting<T>) => T;

/** Reads a limit; null: none. Throws a RangeError with the rule. */
export function readLimit(text: string): number | null {
  if (text === 'none') return null;
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new RangeError('must be a whole number, 1 or more, or the word none');
  }
  return Number(text);
}

/** Reads a port; 0: any free one. Throws a RangeError with the rule. */
export function readPort(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) > 65_535) {
    throw new RangeError('must be a port number from 0 to 65535 (0: any free port)');
  }
  return Number(text);
}
