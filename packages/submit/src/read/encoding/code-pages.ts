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

const LATIN_1_FROM_A0 = Buffer.from(Array.from({ length: 96 }, (_, index) => 0xa0 + index)).toString(
  'latin1',
);
/**
 * The upper half of cp850. cp858 has the euro sign in the place of the i without a dot, and nothing else of its own.
 */
const CP850 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐' +
  '└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\xad±‗¾¶§÷¸°¨·¹³²■\xa0';
/** From 0xb0 on, cp437 and cp860 are the same. */
const CP437_FROM_B0 = '░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\xa0';
const CONTROLS = Buffer.from(Array.from({ length: 32 }, (_, index) => 0x80 + index)).toString('latin1');

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

/** True for the name of a single-byte encoding. */
export function isCodePage(encoding: string): encoding is CodePage {
  return encoding in HIGH;
}

/** The text of bytes. `latin1` has a character for each byte, with the byte's number. */
export function decodeCodePage(latin1: string, page: CodePage): string {
  const high = HIGH[page];
  return latin1.replace(/[\x80-\xff]/g, (sign) => high.charAt(sign.charCodeAt(0) - 0x80));
}
