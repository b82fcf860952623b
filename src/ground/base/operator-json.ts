/** JSON that an operator writes by hand. */

/** An object of the JSON has a name twice. Of the two values `JSON.parse` would take the last one. */
export class RepeatedNameError extends SyntaxError {}

/** What comes before a text in quotation marks or a sign that opens or closes, and then that text or sign. */
const TOKEN = /[^"{}[\]]*("(?:[^"\\]|\\.)*"|[{}[\]])/y;
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
  TOKEN.lastIndex = 0;
  for (let [, token] = TOKEN.exec(text) ?? []; token !== undefined; [, token] = TOKEN.exec(text) ?? []) {
    if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
    else {
      COLON.lastIndex = TOKEN.lastIndex;
      if (!COLON.test(text)) continue;
      const names = open.at(-1)!;
      const name: string = JSON.parse(token);
      if (names.has(name))
        throw new RepeatedNameError(`an object has the name ${JSON.stringify(name)} twice`);
      names.add(name);
    }
  }
}
