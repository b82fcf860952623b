/** JSON that an operator writes by hand. */

/** An object of the JSON has a name twice. Of the two values `JSON.parse` would take the last one. */
export class RepeatedNameError extends SyntaxError {}

/** A text in quotation marks, or a sign that opens or closes. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]]/g;
const COLON = /\s*:/y;

/** The value of a JSON text. Throws a `SyntaxError` where the text is none, or where an object has a name twice. */
export function parseOperatorJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  refuseRepeatedNames(text);
  return value;
}

/** `text` is valid JSON, so a text before a colon is a name. */
function refuseRepeatedNames(text: string): void {
  const open: Set<string>[] = [];
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
    else {
      COLON.lastIndex = index + token.length;
      if (!COLON.test(text)) continue;
      const names = open.at(-1)!;
      const name: string = JSON.parse(token);
      if (names.has(name))
        throw new RepeatedNameError(`an object has the name ${JSON.stringify(name)} twice`);
      names.add(name);
    }
  }
}
