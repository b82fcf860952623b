/** What the groups of the configuration share. */

/** A variable of the environment, trimmed; undefined where it is absent or empty. */
export type Read = (name: string) => string | undefined;

/** Names the variable and the rule that it breaks; never shows the value, which may be a secret. */
export class ConfigError extends Error {
  constructor(variable: string, rule: string) {
    super(`${variable} ${rule}`);
  }
}
