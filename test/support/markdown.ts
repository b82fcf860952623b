/** Reads tables of a Markdown document. */

/** The first table after `mark`, which occurs once in the document: its rows as cells, without heading and rule. */
export function tableAfter(document: string, mark: string): string[][] {
  const [, rest, ...others] = document.split(mark);
  if (rest === undefined || others.length > 0) throw new Error(`not once in the document: ${mark}`);
  const lines = rest.split('\n');
  const first = lines.findIndex((line) => line.startsWith('| '));
  const rows = lines.slice(first).map((line) => (line.startsWith('|') ? cellsOf(line) : null));
  const end = rows.indexOf(null);
  return rows.slice(2, end < 0 ? undefined : end) as string[][];
}

function cellsOf(line: string): string[] {
  const [, ...cells] = line.split('|').map((cell) => cell.trim());
  return cells.slice(0, -1);
}

/** The texts between backticks, in their order. */
export function codesIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code as string);
}

/** The texts between backticks, joined by commas. */
export function codeList(codes: readonly string[]): string {
  return codes.map((code) => `\`${code}\``).join(', ');
}
