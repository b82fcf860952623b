/**
 * Recognises texts that could be meant as a request for no more messages, and are none by their words: a complaint, a
 * question where the number is from, or a request within a longer text (docs/messages.md, "Consent"). The person is
 * asked once, with two buttons. Pure.
 */
import { chatWords, coresOfWords, isAct, PAST } from './opt-out-words.ts';

/** Longer texts tell a story, and a person answers them. */
const MAX_LENGTH = 1_000;
/** The places where one thought of a longer text ends. */
const BETWEEN_THOUGHTS = /[.,;:!?¿¡\n]+|\s+(?:y|e|and|pero|mas|but|so|porque|por que|pq|because|pois)\s+/iu;
/** What follows gives the reason: "no me escriban, que me tienen aburrido". */
const REASON = /\s+(?:que|q)\s+.*$/su;

const NUMBER_ES = '((mi|este|el) (numero|telefono|celular|contacto|whatsapp|wsp)|mis datos)';
const TIRED_OF_ES = '(ustedes|((sus|los|tantos?|estos) )?mensaj(e|ito)s?)';
const OFTEN_ES = '(todos los dias|todo el dia|a cada rato|a toda hora|a diario)';
const NUMBER_PT = '((o |a )?(meu|este|esse) (numero|telefone|celular|contato|whatsapp|zap)|(os )?meus dados)';
const MESSAGES_PT = '(mensage(m|ns)|msgs?)';
const OFTEN_PT = '(todo (santo )?dia|todos os dias|toda hora|o dia todo)';
const MESSAGES_EN = '(messages?|msgs?|texts?)';

/** Whole thoughts in plain form, without the courtesy around them. */
const THOUGHTS = [
  `deja(me|nos)|dejen(me|nos)|par[ea]n?l[ao]`,
  `(de )?(donde|como) (sac|consig|obtuv|obten|encontr|tien)[a-z]+ ${NUMBER_ES}`,
  `quien (les|te|le) (dio|paso|vendio|entrego) ${NUMBER_ES}|por que tienen? ${NUMBER_ES}`,
  `por que (me |nos )?((siguen? )?(escribiendo|mandando|enviando|molestando)|escriben?|mandan?|envian?|molestan?|insisten?)` +
    '( (esto|eso|(tantos )?mensajes))?',
  '(otra vez|de nuevo) (ustedes|con (esto|eso|lo mismo)|los mismos)',
  `(que|son( muy)?|estan muy) (intens|fastidi|molest|cansad|pesad|cansones|insistent)[a-z]*( (son|ustedes))*`,
  'no se(an?|as) (tan )?(intens|pesad|molest|cansad|insistent)[a-z]*|como (molestan|joden|fastidian|insisten|chingan|friegan)|ustedes no se cansan|no se cansan',
  `(me tienen|ando) (hart|cansad|mamad|aburrid|podrid)[oa]( (de|con) ${TIRED_OF_ES})?`,
  `estoy (hart|cansad|mamad|aburrid|podrid)[oa] de ${TIRED_OF_ES}`,
  `me (cansaron|hartaron|aburrieron)( (de|con) ${TIRED_OF_ES})?`,
  `me (escriben|molestan|mandan( mensajes)?) ${OFTEN_ES}|${OFTEN_ES} (me )?(escriben|molestan|mandan)( mensajes)?`,
  '(son )?(muchos|demasiados|tantos) mensajes( ya)?',
  '(los|les|las) (voy a |vamos a )?(report|denunci|bloque)(ar|o|e)( si siguen)?|bloquead[oa]s|bloqueado|reportados?',
  '(voy a |vou )?bloque(ar|o|e|io) ((este|esse|el|o|su) (numero|contacto|contato|chat)|voces)|vou (bloquear|denunciar( voces)?)',
  '((esto|isso) )?(es|e) (un )?(acoso|hostigamiento|assedio|abuso)',
  '((les?|te) )?(dije|he dicho|habia dicho|digo) que no( (quiero|me interesa|estoy interesad[oa])( nada)?)?',
  'cuantas veces (les?|te) (digo|tengo que decir) que no',
  `(yo )?no (los |les |lo )?(pedi|solicite|he pedido|autorice|he autorizado)( (a ustedes|para esto|nada|esto|eso|` +
    `ning[uú]n[a]? (mensaje|credito|prestamo|informacion)))*`,
  '(quiero que )?(me )?(borren|eliminen|quiten)(me)? todo( lo mio)?|no me interesa nada de (ustedes|esto)',
  `de onde ((voces|voce) )?(tir|peg|consegu|arrum)[a-z]+ ${NUMBER_PT}|como (voces )?consegu[a-z]+ ${NUMBER_PT}`,
  `quem (passou|deu|vendeu) ${NUMBER_PT}( (pra|para) voces)?`,
  `por que (voces )?(estao )?(me )?(mandam|mandando|enviam|enviando|escrevem|escrevendo)( me)?( (${MESSAGES_PT}|isso|isto))?`,
  '(voces|isso) de novo|de novo (voces|isso|com isso)|que (saco|chat[oa]s?|insistencia|inconvenientes?)',
  `((eu )?(estou|to) )(cansad[oa]|de saco cheio|fart[oa])( (de|dess[ae]s?|com) (voces|${MESSAGES_PT}))`,
  `${OFTEN_PT} (voces )?(mandam )?${MESSAGES_PT}|(muita|tanta|demais) ${MESSAGES_PT}`,
  '(falei|disse) que nao( (quero|tenho interesse)( nada)?)?',
  '(eu )?nao (pedi|solicitei)( (isso|isto|nada|nenhuma mensagem|nenhum emprestimo))?|me deix(a|em?)',
  `(where|how) did (you|u) get my (number|phone|contact|data)|who gave you my (number|contact)`,
  'why do you have my (number|data|contact)',
  `why (are you|do you keep) (texting|messaging|writing)( to)?( me)?|you (guys )?again`,
  `((you|this|it)( guys)? (are|is|re|s) )?(so |very )?(annoying|harassment)`,
  `(i am|i m|im) (so )?(tired|sick) of (you|(your|these|the|all these) ${MESSAGES_EN})`,
  `(too many|so many) ${MESSAGES_EN}|every (single )?day (a |another )?(message|text)`,
  '(i )?(already )?(said|told (you|u)) (no|(that )?i( am|m| m) not interested)',
  '(i will|i ll|i am going to|i m going to|im going to) (block|report) (you|this number)|blocked',
  '(i )?(did not|didn t|never) (ask for|sign(ed)? up for|request(ed)?) (this|that|it|anything|any loan)|enough',
] as const;
const THOUGHT = new RegExp(`^(?:${THOUGHTS.join('|')})$`);

/** Words of somebody who wants other messages, or messages at another time. */
const WANTS_OTHERS =
  /\b((escrib|mand|envi|avis|llam)[a-z]+(me|nos)|solo|so por|only|mejor por|manana|amanha|tomorrow|(hasta|ate|until) (el|que|o|a|[0-9]|monday)|ingles|correo|(si|sim) (quiero|quero)|(credito|emprestimo) (si|sim))\b/;

/** Whether a text that does not ask for no more messages (`asksToStop`) could be meant so. */
export function mayAskToStop(text: string): boolean {
  if (text.length > MAX_LENGTH) return false;
  const thoughts = [text, ...text.split(BETWEEN_THOUGHTS)].filter((thought) => thought.trim() !== '');
  if (thoughts.some(isComplaint)) return true;
  if (PAST.test(text.normalize('NFC')) || WANTS_OTHERS.test(chatWords(text))) return false;
  return thoughts.some((one) => isAct(one) || isAct(one.replace(REASON, '')));
}

function isComplaint(thought: string): boolean {
  return [...coresOfWords(chatWords(thought))].some(({ words }) => THOUGHT.test(words));
}
