/**
 * The part of an applicant's name that a message shows (D42). A partner can put any text into the field `name`, and a
 * message carries the names of the service and of the channel, so nothing but a name may pass.
 */
import { MAX_VALUE_LENGTH } from '../partner/brand.ts';

/** A text of more words or characters is a sentence. */
const MAX_WORDS = 12;
const MAX_LENGTH = 100;
/** Words that a message shows, beside particles. */
const SHOWN_NAMES = 2;
const MAX_WORD_LENGTH = 25;

/**
 * Format characters (bidi among them), and others that nobody sees. They come with copied cells, so they are dropped.
 */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
/** Signs that people type in place of the apostrophe. */
const APOSTROPHES = /[`´‘]/g;

/** A letter of the Latin alphabet. NFC leaves few accents apart, such as the tilde of Guarani's g. */
const LETTER = '[\\p{Script=Latin}&&\\p{L}][\\u0300-\\u034e\\u0350-\\u036f]{0,2}';
/** Parts with single apostrophes and hyphens between them, and a dot at the end of an abbreviation: O'Higgins, Ma. */
const WORD = `(?:${LETTER})+(?:['’ʼ\\-‐‑](?:${LETTER})+)*['’ʼ]?\\.?`;
/** Single letters with dots: J.R., M.ª */
const INITIALS = `${LETTER}(?:\\.${LETTER})+\\.?`;
const NAME_WORD = new RegExp(`^(?:${WORD}|${INITIALS})$`, 'v');

/** Words that belong to the name after them. */
const PARTICLE = /^(?:de|del|la|las|lo|los|el|y|e|i|da|das|do|dos|di|van|von|der|san|santa)$/i;

/**
 * The first two words of a name, with the particles between them: `María del Carmen`, `Ana Pérez`. Null: the text is
 * not a name, because a word of it has other characters than a name has, or because it is too long.
 */
export function shownName(text: string): string | null {
  const plain = text.replace(INVISIBLE, '').replace(APOSTROPHES, "'").normalize('NFC').trim();
  const words = plain.split(/\s+/);
  if (plain.length > MAX_LENGTH || words.length > MAX_WORDS) return null;
  if (!words.every((word) => word.length <= MAX_WORD_LENGTH && NAME_WORD.test(word))) return null;
  const shown = words.slice(0, endOfNames(words)).join(' ');
  return shown.length > MAX_VALUE_LENGTH.name ? null : shown;
}

function endOfNames(words: readonly string[]): number {
  let names = 0;
  for (const [index, word] of words.entries()) {
    if (!PARTICLE.test(word)) names += 1;
    if (names === SHOWN_NAMES) return index + 1;
  }
  // A particle at the end belongs to nothing.
  return words.findLastIndex((word) => !PARTICLE.test(word)) + 1 || words.length;
}
