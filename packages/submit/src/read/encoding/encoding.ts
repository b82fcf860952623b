/** The encodings of text files: the code pages, those that the first bytes show, and reading all as UTF-8. */
import { BulkError } from '../bulk-error.ts';
import { isAscii, latin1Of } from '../bytes.ts';

/** The single-byte encodings in which programs save tables in Spanish and Portuguese. Each byte is one character. */
export const CODE_PAGES = [
  'Windows-1252',
  'ISO-8859-15',
  'MacRoman',
  'cp850',
  'cp858',
  'cp437',
  'cp860',
] as const;
export type CodePage = (typeof CODE_PAGES)[number];

const LATIN_1_FROM_A0 = charactersFrom(0xa0, 96);
/**
 * The upper half of cp850. cp858 has the euro sign in the place of the i without a dot, and nothing else of its own.
 */
const CP850 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐' +
  '└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\xad±‗¾¶§÷¸°¨·¹³²■\xa0';
/** From 0xb0 on, cp437 and cp860 are the same. */
const CP437_FROM_B0 = '░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\xa0';
const CONTROLS = charactersFrom(0x80, 32);

/**
 * The characters of the bytes from 0x80 on. They are written down, because Node knows no DOS code page, and some of its
 * releases decode Windows-1252 as Latin-1. Bytes that Windows-1252 leaves open become control characters.
 */
const HIGH: Readonly<Record<CodePage, string>> = {
  'Windows-1252': `€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ${LATIN_1_FROM_A0}`,
  'ISO-8859-15':
    CONTROLS + [...LATIN_1_FROM_A0].map((sign) => '€ŠšŽžŒœŸ'['¤¦¨´¸¼½¾'.indexOf(sign)] ?? sign).join(''),
  MacRoman:
    'ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø' +
    '¿¡¬√ƒ≈∆«»…\xa0ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\uf8ffÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ',
  cp850: CP850,
  cp858: CP850.replace('ı', '€'),
  cp437: `ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»${CP437_FROM_B0}`,
  cp860: `ÇüéâãàÁçêÊèÍÔìÃÂÉÀÈôõòÚùÌÕÜ¢£Ù₧ÓáíóúñÑªº¿Ò¬½¼¡«»${CP437_FROM_B0}`,
};

function charactersFrom(first: number, length: number): string {
  return String.fromCharCode(...Array.from({ length }, (_, index) => first + index));
}

/** True for the name of a single-byte encoding. */
export function isCodePage(encoding: string): encoding is CodePage {
  return encoding in HIGH;
}

/** The text of bytes. `latin1` has a character for each byte, with the byte's number. */
export function decodeCodePage(latin1: string, page: CodePage): string {
  const high = HIGH[page];
  return latin1.replace(/[\x80-\xff]/g, (sign) => high.charAt(sign.charCodeAt(0) - 0x80));
}

export const ENCODINGS = ['UTF-8', 'UTF-16LE', 'UTF-16BE', ...CODE_PAGES] as const;
export type Encoding = (typeof ENCODINGS)[number];

/**
 * The encoding that the first bytes show: by a byte order mark, or by the zeros that UTF-16 puts beside Latin letters.
 */
export function encodingOfHead(head: Uint8Array): Encoding | null {
  if (head[0] === 0xff && head[1] === 0xfe) return 'UTF-16LE';
  if (head[0] === 0xfe && head[1] === 0xff) return 'UTF-16BE';
  if (!head.includes(0)) return null;
  const zeros = [...head.subarray(0, 200).entries()].filter(([, byte]) => byte === 0);
  const inOdd = zeros.some(([index]) => index % 2 === 1);
  const inEven = zeros.some(([index]) => index % 2 === 0);
  if (inOdd && !inEven) return 'UTF-16LE';
  if (inEven && !inOdd) return 'UTF-16BE';
  return null;
}

/** True where the file begins with the mark of UTF-8, as files of rejected rows do. */
export function hasUtf8Mark(head: Uint8Array): boolean {
  return head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;
}

const encoder = new TextEncoder();

/** The bytes as UTF-8 without a byte order mark. Throws `BulkError` where they are not of the encoding. */
export async function* asUtf8(
  file: string,
  chunks: AsyncIterable<Uint8Array>,
  encoding: Encoding,
): AsyncGenerator<Uint8Array> {
  if (isCodePage(encoding)) {
    for await (const chunk of withoutMark(chunks))
      yield isAscii(chunk) ? chunk : encoder.encode(decodeCodePage(latin1Of(chunk), encoding));
    return;
  }
  if (encoding === 'UTF-8') return yield* withoutMark(chunks);
  const decoder = new TextDecoder(encoding.toLowerCase(), { fatal: true });
  try {
    for await (const chunk of chunks) yield encoder.encode(decoder.decode(chunk, { stream: true }));
    yield encoder.encode(decoder.decode());
  } catch (error) {
    if (error instanceof TypeError) {
      throw new BulkError({
        en: `${file}: it is not valid ${encoding}`,
        es: `${file}: no es ${encoding} válido`,
        pt: `${file}: não é ${encoding} válido`,
      });
    }
    throw error;
  }
}

async function* withoutMark(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let first = true;
  for await (const chunk of chunks) {
    const marked = first && hasUtf8Mark(chunk);
    first = false;
    yield marked ? chunk.subarray(3) : chunk;
  }
}
