/** Texts that a terminal obeys, and texts that only look so. */

/** Colours and titles, the cursor, C1's CSI, DEL, both directions of bidi, a tag, a BOM, both separators. */
export const HOSTILE =
  '\x1b[31mred\x1b]0;title\x07 \x9b2J\x7f\r\b\t \u202eeman\u202c \u2066x\u2069 \u200f \u061c \u{e0041} \ufeff \u2028 \u2029 \u200b';
/** Characters that names and emoji need. */
export const HARMLESS = 'Zoë Ñandú 👩\u200d🚀 👍🏽 ❤️';
/** Written by hand, so that the program's own pattern does not check itself. */
export const UNSAFE =
  /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/u;
