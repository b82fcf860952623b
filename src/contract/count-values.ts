/** Counts the values of a JSON text before it is parsed. */

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/**
 * True where the JSON text has more than `max` values, arrays and objects included, at any depth. So `max` limits the
 * depth too. For bytes that are not JSON the result may be either.
 */
export function hasMoreValues(json: Buffer, max: number): boolean {
  // The outermost value. Every other value follows a comma or is the first in an array or object.
  let values = 1;
  let isOpened = false;
  for (let index = 0; index < json.length; index++) {
    const byte = json[index]!;
    switch (byte) {
      case OPENING_BRACKET:
      case OPENING_BRACE:
        if (values > max) return true;
        values += 1;
        isOpened = true;
        break;
      case CLOSING_BRACKET:
      case CLOSING_BRACE:
        if (isOpened) values -= 1;
        isOpened = false;
        break;
      case COMMA:
        values += 1;
        if (values > max) return true;
        break;
      case QUOTE:
        isOpened = false;
        index = endOfText(json, index + 1);
        break;
      default:
        if (byte > SPACE) isOpened = false;
    }
  }
  return values > max;
}

function endOfText(json: Buffer, start: number): number {
  for (let index = start; index < json.length; index++) {
    const byte = json[index];
    if (byte === BACKSLASH) index += 1;
    else if (byte === QUOTE) return index;
  }
  return json.length;
}
