/**
 * Recognises texts that ask for no more messages (docs/messages.md, "Consent"). Pure. A request counts only if it is
 * the whole message: "¿me pueden dar de baja el interés?" asks for something else, and a "no, thanks" refuses an offer
 * alone.
 */
import { ACTS, ALONE, ASIDES, COURTESY, LEADS_TO, NO_INTEREST, STATEMENTS } from './opt-out-phrases.ts';

// WhatsApp's Business Messaging Policy requires senders to respect every such request, in any words, and lists none.
// The laws of the recipients' countries let people withdraw consent at any time, as easily as they gave it: Brazil's
// LGPD (Lei 13.709/2018, art. 8 § 5 and art. 18 IX), Colombia's Ley 1581 of 2012 (art. 8 e) and Ley 2300 of 2023,
// Mexico's LFPDPPP. These laws have no list of words. The USA have one, 47 CFR 64.1200(a)(10): stop, quit, end, revoke,
// opt out, cancel, unsubscribe. The other patterns are words that senders in Latin America ask people to write, and
// words that people write on their own. Counsel has the last word.

// The first part: one spelling of the words that people write.

/**
 * The text in small letters and digits, with one space between words. Full-width and other forms of letters become
 * plain letters. Accents, emoji, punctuation and invisible characters are removed. A repeated letter (BAJAAA) becomes
 * one, and a word in single letters (B A J A) is joined. Many people write `no quiero +` for `no quiero más`.
 */
export function plainWords(text: string): string {
  const words = text
    .normalize('NFKC')
    .normalize('NFD')
    .replace(/[\p{M}\p{Cf}]+/gu, '')
    .toLowerCase()
    .replace(/\b(nao|no|n|quiero|quero)\s*\+/u, '$1 mas ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .replace(/(\p{L})\1{2,}/gu, '$1')
    .trim();
  return /^\p{L}( \p{L}){2,}$/u.test(words) ? words.replaceAll(' ', '') : words;
}

/** How people spell in a chat. */
const SPELLINGS: Readonly<Record<string, string>> = {
  q: 'que',
  k: 'que',
  ke: 'que',
  qe: 'que',
  x: 'por',
  m: 'me',
  xfavor: 'por favor',
  porfis: 'porfa',
  kiero: 'quiero',
  mensage: 'mensaje',
  mensages: 'mensajes',
  msjes: 'mensajes',
  vaja: 'baja',
  escrivan: 'escriban',
  escrivir: 'escribir',
  escrivirme: 'escribirme',
  embien: 'envien',
  embiar: 'enviar',
  embiarme: 'enviarme',
  vcs: 'voces',
  vc: 'voce',
  d: 'de',
  xfa: 'porfa',
  spamen: 'spameen',
  mescriban: 'me escriban',
  menden: 'manden',
  dejn: 'dejen',
  moleten: 'molesten',
  molestn: 'molesten',
  borenme: 'borrenme',
  sakenme: 'saquenme',
  kitenme: 'quitenme',
  elimenme: 'eliminenme',
  naum: 'nao',
  num: 'nao',
  msgm: 'mensagem',
  mensagen: 'mensagem',
  mensagems: 'mensagens',
};
/** The words behind "I" are "I'd" and "I'm". */
const SPELLED = new RegExp(`(?<!\\bi )\\b(?:${Object.keys(SPELLINGS).join('|')})\\b`, 'g');
/** "No envié nada", "quité mi número": the past of a verb, which without its accent would be a request. */
export const PAST =
  /(?<!\p{L})(?:mand|envi|llam|habl|busqu|contact|molest|elimin|borr|quit|saqu|retir|bloque|olvid|cancel|par)é(?!\p{L})/iu;
/** The places where one thought of a text may end and the next one begin. */
const BETWEEN_CLAUSES = /[.,;:!\n]+|\s+[ye]\s+/u;

const wholly = (patterns: readonly string[]) => new RegExp(`^(?:${patterns.join('|')})$`);
const ACT = wholly(Object.values(ACTS).flat());
const REQUEST_ALONE = wholly(ALONE);
const STATEMENT = wholly(STATEMENTS);
const LEAD = new RegExp(`^(?:${LEADS_TO}) `);
/** `BAJA BAJA`, on one line or on two. */
const REPEATED = /^(.+?)(?: \1)+$/;
const aroundOf = (words: string) => ({
  before: new RegExp(`^(?:${words}) `),
  after: new RegExp(` (?:${words})$`),
  refuses: words === NO_INTEREST,
});
const AROUND = [COURTESY, NO_INTEREST].map(aroundOf);
const AROUND_ACT = [...AROUND, aroundOf(ASIDES)];
const ASIDE = new RegExp(
  `^(?:${COURTESY}|${NO_INTEREST}|${ASIDES})(?: (?:${COURTESY}|${NO_INTEREST}|${ASIDES}))*$`,
);
/** A longer text says more than a request. The length is that of the text as written. */
const MAX_LENGTH = 120;

/** A text without some of the words that may stand around it. `refuses`: some of these words refuse. */
export interface Core {
  readonly words: string;
  readonly refuses: boolean;
}

/**
 * The text in plain words, whole and without some of the courtesy around it, the longest first. A text that is said
 * twice counts once. A long text has no core. Both the meaning of a text and its wish for no more messages are read
 * from its cores, so that a text which has both never loses its meaning.
 */
export function* coresOf(text: string): Generator<Core, void> {
  if (text.length > MAX_LENGTH) return;
  yield* coresOfWords(plainWords(text));
}

/** The same of words in plain form. */
export function* coresOfWords(words: string, around = AROUND): Generator<Core, void> {
  for (const begun of without('before', { words, refuses: false }, around)) {
    yield* without('after', begun, around);
  }
}

/** The words, and then what is left of them after each courtesy that is taken off at this side. */
function* without(side: 'before' | 'after', core: Core, around: typeof AROUND): Generator<Core, void> {
  const words = core.words.replace(REPEATED, '$1');
  yield { ...core, words };
  const found = around.find((one) => one[side].test(words));
  if (found === undefined) return;
  yield* without(
    side,
    { words: words.replace(found[side], ''), refuses: core.refuses || found.refuses },
    around,
  );
}

/** Whether a text asks something, so that it states nothing. */
export function isQuestion(text: string): boolean {
  return /[?¿？]/.test(text);
}

/**
 * True if the whole text asks for no more messages, in any spelling that `plainWords` unites. If the text has several
 * clauses, each has to be such a request or an aside: "no me llamen, escríbanme por aquí" asks for something else.
 */
export function asksToStop(text: string): boolean {
  if (text.length > MAX_LENGTH || PAST.test(text.normalize('NFC'))) return false;
  if (asksAlone(text) || isAct(text)) return true;
  const clauses = text.split(BETWEEN_CLAUSES).filter((clause) => plainWords(clause) !== '');
  return (
    clauses.some(isAct) && clauses.every((one) => isAct(one) || asksAlone(one) || ASIDE.test(chatWords(one)))
  );
}

/** A request in so few words that only courtesy may stand around them. */
function asksAlone(text: string): boolean {
  return [...coresOf(text)].some(
    ({ words }) => REQUEST_ALONE.test(words) || (!isQuestion(text) && STATEMENT.test(words)),
  );
}

/** A request that stays a request after a wish, a question or an aside. */
export function isAct(text: string): boolean {
  for (const { words } of coresOfWords(chatWords(text), AROUND_ACT)) {
    for (let act = words; ; act = act.replace(LEAD, '')) {
      if (ACT.test(act)) return true;
      if (!LEAD.test(act)) break;
    }
  }
  return false;
}

/** The words in plain form, with the spellings of a chat written out. */
export function chatWords(text: string): string {
  return plainWords(text).replace(SPELLED, (word) => SPELLINGS[word] ?? word);
}
