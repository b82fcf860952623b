/** Takes comments out of SQL, so that a reworded comment does not count as a change. */

/**
 * What must not be looked into, or is looked into by itself: gaps, strings with backslashes, strings, quoted names and
 * dollar quotes. A quote that does not end reaches to the end of the text. Every start and command reads all migrations
 * with it. So a single space, the most frequent gap, is no piece, and the groups have no names, which would cost more.
 */
const PIECE = new RegExp(
  [
    String.raw`((?! [^\s-])(?:\s+|--[^\n]*)+)`,
    String.raw`(?<![\w$])[eE]'(?:[^'\\]|\\[^]|'')*(?:'|$)`,
    "'(?:[^']|'')*(?:'|$)",
    '"(?:[^"]|"")*(?:"|$)',
    String.raw`(?<![\w$])(\$(?:[A-Za-z_]\w*)?\$)([^]*?)(?:\2|$)`,
  ].join('|'),
  'g',
);

/**
 * SQL with one space instead of each run of spaces, line ends and `--` comments. Strings and quoted names stay as they
 * are. A dollar quote counts as SQL, because migrations quote code alone that way. SQL with a comment of the other form
 * is returned as it is: such comments may hold quotes and each other.
 */
export function withoutComments(sql: string): string {
  return sql.includes('/*') ? sql : strip(sql).trim();
}

function strip(sql: string): string {
  return sql.replace(PIECE, (piece: string, gap?: string, tag?: string, body?: string) => {
    if (gap !== undefined) return ' ';
    return tag === undefined || body === undefined ? piece : tag + strip(body) + tag;
  });
}
