/** What the groups of the configuration share. */

/** A variable of the environment, trimmed; undefined where it is absent or empty. */
export type Read = (name: string) => string | undefined;

/** Names the variable and the rule that it breaks; never shows the value, which may be a secret. */
export class ConfigError extends Error {
  constructor(variable: string, rule: string) {
    super(`${variable} ${rule}`);
  }
}

/** Several of them: a line each. */
class ConfigErrors extends ConfigError {
  constructor(errors: readonly ConfigError[]) {
    super('', '');
    this.message = errors.map(({ message }) => message).join('\n');
  }
}

/** Reads parts of the configuration and keeps what is wrong, so that all of it is told at once. */
export class Problems {
  readonly #found: ConfigError[] = [];

  /** What `read` returns. Where it throws a `ConfigError`, the value may not be used: `throwIfAny` has to come first. */
  try<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.#found.push(error);
      return undefined as T;
    }
  }

  /** Throws one `ConfigError` with everything that was wrong, a line each. */
  throwIfAny(): void {
    const [first, ...others] = this.#found;
    if (first === undefined) return;
    throw others.length === 0 ? first : new ConfigErrors(this.#found);
  }
}
