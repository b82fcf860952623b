/** Options as people copy them into a shell. */

/** Signs that bash, PowerShell or both read inside double quotes. */
const READ_IN_QUOTES = /["$`\\!]/;

/** The argument in quotes: double ones, which every shell takes, unless shells would read a sign inside them. */
export function quoted(argument: string): string {
  return READ_IN_QUOTES.test(argument) ? `'${argument.replaceAll("'", "'\\''")}'` : `"${argument}"`;
}
