/** Options as people copy them into a shell: bash, PowerShell or cmd. */

/** Signs that a shell reads inside double quotes. */
const READ_IN_QUOTES = /[$`\\!]/;

/** False for a text that no quotes keep whole in every shell: a file must not run a command by a word of its own. */
export function isQuotable(text: string): boolean {
  return !text.includes('"') && !(READ_IN_QUOTES.test(text) && text.includes("'"));
}

/** A quotable argument in quotes: double ones, unless a shell reads a sign inside them. */
export function quoted(argument: string): string {
  return READ_IN_QUOTES.test(argument) ? `'${argument}'` : `"${argument}"`;
}
