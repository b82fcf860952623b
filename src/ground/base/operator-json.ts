/** Parses JSON that an operator writes by hand, and refuses a name that stands twice in one object. Pure. */

/** An object of the JSON has a name twice. `JSON.parse` would silently take the second value. */
export class RepeatedNameError extends SyntaxError {}

/** The next string or bracket of the JSON text, with all that comes before it. */
const TOKEN = /[^"{}[\]]*("(?:[^"\\]|\\.)*"|[{}[\]])/y;
const COLON = /\s*:/y;

/** The value of a JSON text. Throws a `SyntaxError` if the text is not JSON, or if an object has a name twice. */
export function parseOperatorJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  refuseRepeatedNames(text);
  return value;
}

/** `text` is valid JSON, so a string before a colon is a name. */
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
