/**
 * Errors of the configuration, and how several are collected into one (README.md, "Configuration"). No message shows a
 * value, which may be a secret. Pure.
 */
import { ToldError } from '../../ground/base/told-error.ts';

/** Reads a variable of the process, trimmed; undefined if the variable is absent or empty. */
export type Read = (name: string) => string | undefined;

/** Names a variable and the rule that its value breaks. The value may be a secret, so the message never shows it. */
export class ConfigError extends ToldError {
  constructor(variable: string, rule: string) {
    super(`${variable} ${rule}`);
  }
}

/** Several errors, a line each. */
class ConfigErrors extends ConfigError {
  constructor(errors: readonly ConfigError[]) {
    super('', '');
    this.message = errors.map(({ message }) => message).join('\n');
  }
}

/** Collects the errors of the configuration, so that an operator reads all of them at once. */
export class Problems {
  readonly #found: ConfigError[] = [];

  /** The value of `read`. After a `ConfigError` the value is no `T`: call `throwIfAny` before you use any value. */
  try<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.#found.push(error);
      return undefined as T;
    }
  }

  /** Throws one `ConfigError` with every error so far, a line each. */
  throwIfAny(): void {
    const [first, ...others] = this.#found;
    if (first === undefined) return;
    throw others.length === 0 ? first : new ConfigErrors(this.#found);
  }
}
