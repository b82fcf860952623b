/**
 * Cuts the array of applicants out of JSON text, element by element, and holds one element at a time. Brackets and
 * quotes show where an element ends; the parser checks each element.
 */
import type { Words } from '../../../../src/ground/base/language.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Says why the text is no JSON; the caller adds the file. */
export class JsonFault extends Error {
  readonly words: Words;
  constructor(words: Words) {
    super(words.en);
    this.words = words;
  }
}

const NO_COMMA: Words = { en: 'a "," is missing', es: 'falta una ","' };

type Place =
  | 'root'
  | 'key'
  | 'colon'
  | 'value'
  | 'after_value'
  | 'first_element'
  | 'element'
  | 'after_element'
  | 'end';

const ROOT_NAMES = ['applications', 'aplicaciones'];

/** Takes UTF-8 in pieces and yields the bytes of each whole element. */
export class JsonElements {
  readonly #maxBytes: number;
  #place: Place = 'root';
  /** False where the root itself is the array. */
  #inObject = false;
  #name = '';
  #found = false;
  /** State of the value under way: its bytes so far, its depth, and whether the reading is inside a text. */
  #parts: Buffer[] = [];
  #bytes = 0;
  #depth = 0;
  #inText = false;
  #escaped = false;
  #inValue = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Throws `JsonFault`. */
  *add(chunk: Buffer): Generator<Buffer> {
    let index = 0;
    while (index < chunk.length) {
      if (this.#inValue) {
        const end = this.#endOfValue(chunk, index);
        this.#keep(chunk.subarray(index, end));
        index = end;
        if (!this.#inValue) yield* this.#finish();
        continue;
      }
      const byte = chunk[index]!;
      if (byte > 0x20) index = this.#step(byte, index);
      else index += 1;
    }
  }

  /** Throws `JsonFault` unless the text is whole and had the array. */
  end(): void {
    if (this.#place !== 'end')
      throw new JsonFault({
        en: 'it ends in the middle: it was cut off',
        es: 'termina a la mitad: está incompleto',
      });
    if (!this.#found) {
      throw new JsonFault({
        en: 'it has no array "applications" or "aplicaciones"',
        es: 'no tiene un arreglo "aplicaciones" o "applications"',
      });
    }
  }

  /** Checks a byte between values and moves to the next place. Returns the index to go on from. */
  #step(byte: number, index: number): number {
    switch (this.#place) {
      case 'root':
        if (byte === OPEN_ARRAY) return this.#openArray(index);
        if (byte !== OPEN_OBJECT) {
          throw new JsonFault({
            en: 'it is neither an array nor an object',
            es: 'no es ni un arreglo ni un objeto',
          });
        }
        this.#inObject = true;
        return this.#next('key', index);
      case 'key':
        if (byte === CLOSE_OBJECT) return this.#next('end', index);
        if (byte !== QUOTE) {
          throw new JsonFault({ en: 'a name in quotes is missing', es: 'falta un nombre entre comillas' });
        }
        return this.#begin(index);
      case 'colon':
        if (byte !== COLON) throw new JsonFault({ en: 'a ":" is missing', es: 'falta ":"' });
        return this.#next('value', index);
      case 'value':
        if (byte === OPEN_ARRAY && ROOT_NAMES.includes(this.#name)) return this.#openArray(index);
        return this.#begin(index);
      case 'after_value':
        if (byte === COMMA) return this.#next('key', index);
        if (byte === CLOSE_OBJECT) return this.#next('end', index);
        throw new JsonFault(NO_COMMA);
      case 'first_element':
        return byte === CLOSE_ARRAY ? this.#closeArray(index) : this.#begin(index);
      case 'element':
        return this.#begin(index);
      case 'after_element':
        // Other bytes come only where the next value begins without a comma.
        if (byte === COMMA) return this.#next('element', index);
        if (byte === CLOSE_ARRAY) return this.#closeArray(index);
        throw new JsonFault(NO_COMMA);
      case 'end':
        throw new JsonFault({ en: 'something follows after its end', es: 'hay algo después de su final' });
    }
  }

  #next(place: Place, index: number): number {
    this.#place = place;
    return index + 1;
  }

  #begin(index: number): number {
    this.#inValue = true;
    return index;
  }

  #openArray(index: number): number {
    if (this.#found) {
      throw new JsonFault({
        en: 'it has both "applications" and "aplicaciones": keep one',
        es: 'tiene "applications" y "aplicaciones": deja uno',
      });
    }
    this.#found = true;
    return this.#next('first_element', index);
  }

  #closeArray(index: number): number {
    return this.#next(this.#inObject ? 'after_value' : 'end', index);
  }

  /** The end of the value in the chunk. Sets `#inValue` to false where the value ends. */
  #endOfValue(chunk: Buffer, start: number): number {
    for (let index = start; index < chunk.length; index++) {
      const byte = chunk[index]!;
      if (this.#inText) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) {
          this.#inText = false;
          if (this.#depth === 0 && this.#place === 'key') return this.#ended(index + 1);
        }
        continue;
      }
      if (byte === QUOTE) this.#inText = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#depth += 1;
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        if (this.#depth === 0) return this.#ended(index);
        this.#depth -= 1;
      } else if (byte === COMMA && this.#depth === 0) return this.#ended(index);
    }
    return chunk.length;
  }

  #ended(index: number): number {
    this.#inValue = false;
    return index;
  }

  #keep(bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.#bytes > this.#maxBytes) throw new JsonFault(tooLong(this.#maxBytes));
    this.#parts.push(bytes);
  }

  *#finish(): Generator<Buffer> {
    const [first, ...others] = this.#parts;
    const value = first !== undefined && others.length === 0 ? first : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    if (this.#place === 'key') {
      this.#name = String(parseJson(value));
      this.#place = 'colon';
    } else if (this.#place === 'value') {
      parseJson(value);
      this.#place = 'after_value';
    } else {
      this.#place = 'after_element';
      yield value;
    }
  }
}

/** Says that a row or an element has more than `maxBytes`. */
export function tooLong(maxBytes: number): Words {
  return { en: `it is longer than ${maxBytes} bytes`, es: `tiene más de ${maxBytes} bytes` };
}

/** Throws `JsonFault`, because the parser's own error would quote the text. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw new JsonFault({ en: 'it is not valid JSON', es: 'no es JSON válido' });
  }
}
