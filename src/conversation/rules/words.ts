/**
 * What a text means, in Spanish, Portuguese or English, whatever the language of the conversation is. A text means
 * something only where the whole text says so: "no entiendo" is no refusal. Pure.
 */
import { asksToStop, plainWords } from '../../messages/rules/opt-out-words.ts';

/** The meanings that a text can have beside "send no more messages". */
const MEANINGS = [
  'yes',
  'no',
  'accept',
  'withdraw',
  'done',
  'skip',
  'connect',
  'person',
  'wrong_person',
  'resend',
  'thanks',
] as const;
export type Meaning = (typeof MEANINGS)[number];

/** Patterns of a whole text, in small letters without accents, single spaces. */
const PATTERNS: Readonly<Record<Meaning, readonly string[]>> = {
  yes: [
    'si|sip|s|claro( que si)?|dale|listo|ok(ay|ey)?|vale|bueno|de acuerdo|correcto|por supuesto|si (quiero|autorizo|claro)',
    '(si )?(los |les )?autorizo|(si )?estoy de acuerdo',
    'sim|claro|certo|pode|(sim )?autorizo|(sim )?(eu )?quero|concordo|com certeza',
    'seguir|continuar|sigamos|vamos',
    'yes|y|yep|yeah|sure|i agree|agreed|agree|of course|yes (please|i agree)',
  ],
  no: [
    'no|nop|no gracias|no quiero|mejor no|todavia no|no estoy de acuerdo|no (los |les )?autorizo|no acepto|rechazo',
    '(yo )?no (los |les |lo |te )?(autorizo|autorice)( (el )?(uso|tratamiento) de mis datos( personales)?)?',
    'nao|n|nao obrigad[oa]|nao quero|nao (eu )?autorizo|nao concordo|nao aceito|recuso',
    'nope|no thanks?|no thank you|i do not agree|i don t agree|i disagree|i do not accept|i don t accept|i refuse',
  ],
  accept: [
    '(si )?(yo )?(lo )?acepto( el contrato)?',
    '(sim )?(eu )?aceito( o contrato)?',
    '(yes )?i accept( the contract)?|accept',
  ],
  withdraw: [
    'cancelar|cancelen?|cancel[oa]|quiero cancelar( (el|mi) (contrato|credito|solicitud))?',
    '(me )?retir(o|ar|arme|enme)|me (quiero|deseo) retirar|(quiero|deseo) retirarme( del (contrato|credito))?',
    'me retiro( del (contrato|credito))?|desist(o|ir)( del (contrato|credito))?|quiero desistir( del (contrato|credito))?',
    'me arrepenti|ya no (lo )?quiero( (el|este) (contrato|credito|prestamo))?|ya no quiero( nada)?( mas)?|anular( (el|mi) contrato)?',
    '(me )?retract(o|ar|arme)|(quiero|deseo) retractar(me)?|me (quiero|deseo) retractar|retracto',
    '(ejerzo|ejercer|quiero ejercer|uso) (mi |el )?(derecho (de|al) )?retracto|(mi )?derecho (de|al) retracto',
    '(quiero )?(retractarme|me retracto|retracto) del (contrato|credito)',
    '(retir|revoc|quit|cancel)(o|ar) (la |mi |el )?(autorizacion|consentimiento|permiso)|revoco|revocar',
    'desist(o|ir|i)( do (contrato|credito))?|quero (desistir|cancelar)( (do|o|meu) (contrato|credito|pedido))?|me arrependi',
    '(exerco|exercer|quero exercer) (o |meu |o meu )?direito de arrependimento|(direito de )?arrependimento',
    '(ja )?nao quero mais( (o|este) (contrato|credito|emprestimo))?',
    'i (changed my mind|withdraw|regret it)',
    '(i want to |i d like to |please )?(withdraw|cancel)( (from )?(the|my) (contract|loan|credit|application))?|revoke',
  ],
  done: [
    '(eso |esto )?es todo|listo|ya( esta)?( todo)?|ya envie( todo)?|termine|no tengo mas|nada mas|eso seria todo',
    '(isso )?e (tudo|so isso)|so isso|pronto|ja enviei( tudo)?|terminei|nao tenho mais',
    'that s all|that is all|done|finished|i sent everything|no more files',
  ],
  skip: [
    '(seguir|continuar) sin (esto|eso)|omitir|saltar|no (lo )?tengo|no tengo (deudas|extractos?)',
    'seguir sem isso|pular|nao tenho( agora)?',
    'skip|go on without( it)?|i (do not|don t) have (it|any)',
  ],
  connect: [
    '(quiero )?conectar( (mi|la) cuenta)?',
    '(quero )?conectar( (minha|a) conta)?',
    '(i want to )?connect( my account)?',
  ],
  person: [
    '(quiero |necesito |puedo )?(hablar con )?(un |una |el |la |mi )?(asesora?|agente|humano|persona|operador|operadora|representante)',
    '(hablar|comunicarme) con alguien|ayuda|necesito ayuda',
    '(quero |preciso )?(falar com )?(um |uma |o |a )?(atendente|humano|pessoa|operador|operadora)|falar com alguem|ajuda',
    '(i want to |can i )?(talk|speak) to (a |an )?(person|human|agent|someone|somebody)|agent|human|help',
  ],
  wrong_person: [
    '((es|este es) )?(un |el )?(numero|telefono) (equivocado|errado)|(estas?|estan|esta) equivocad[oa]s?( de (numero|persona))?',
    '(te |se )?equivoc(aste|o|aron)( de (numero|persona|telefono))?|(yo )?no soy (yo|el|ella|esa persona|quien (buscas?|buscan))',
    '(este|ese) (no es|ya no es) (el |su )(numero|telefono)( de esa persona)?|no conozco a esa persona',
    '(e |foi )?(um )?(engano|numero errado)|(voces? )?(esta|estao) com o numero errado|(eu )?nao sou (eu|ele|ela|essa pessoa)',
    '(este|esse) (nao e|nao e mais) o (numero|telefone)( dele| dela| dessa pessoa)?|nao conheco (essa|esta) pessoa',
    '(you have the |this is the |sorry )?wrong (number|person)|(this is |it s )?not me|i( am|m| m) not (that|this) person',
  ],
  resend: [
    '(enviar|envien|mandar|manden)?( )?(otro|un nuevo|nuevo) codigo|no (me )?llego( (el|ningun) codigo)?|reenviar( (el )?codigo)?',
    '(enviar )?(outro|novo) codigo|nao (chegou|recebi)( (o|nenhum) codigo)?|reenviar( o codigo)?',
    '(enviar|envien|mandar|manden)?( )?(otro|un nuevo|nuevo) (enlace|link)|(el )?(enlace|link) (ya )?no (sirve|funciona|abre)',
    '(enviar )?(outro|novo) link|(o )?link nao (funciona|abre)( mais)?',
    '(send )?(another|a new|new) link|(the )?link does not (work|open)',
    '(send )?(another|a new|new) code|resend( the code)?|i did not get (it|the code|a code)',
  ],
  thanks: [
    '(muchas |mil |ok |vale |listo )?gracias( (a ustedes|por todo))?|muy amables?|perfecto|excelente|genial|de nada',
    '(muito |ok )?obrigad[oa]|valeu|perfeito',
    '(ok )?(thanks|thank you|thx)( (a lot|so much|very much))?|great|perfect',
  ],
};

const COMPILED = MEANINGS.map(
  (meaning) => [meaning, new RegExp(`^(?:${PATTERNS[meaning].join('|')})$`)] as const,
);
/** A longer text says more than one of these. */
const MAX_LENGTH = 120;
/** Emoji that people send in place of a word. */
const THUMB_UP = /^\s*[\u{1F44D}\u{1F44C}\u{2705}\u{1F64C}][\u{1F3FB}-\u{1F3FF}]?\s*$/u;

/** What a text can mean. A word may mean several things: the question decides which one counts. */
export function meaningsOf(text: string): ReadonlySet<Meaning> {
  if (text.length > MAX_LENGTH) return new Set();
  if (THUMB_UP.test(text)) return new Set(['yes', 'thanks']);
  const plain = plainWords(text).replace(
    /^(por favor|please|hola|ola|oi|hello|hi) | (por favor|please)$/g,
    '',
  );
  return new Set(COMPILED.flatMap(([meaning, pattern]) => (pattern.test(plain) ? [meaning] : [])));
}

/** Whether two texts are the same but for capitals, accents and punctuation. */
export function isSameText(one: string, other: string): boolean {
  if (one.length > MAX_LENGTH) return false;
  const plain = plainWords(one);
  return plain !== '' && plain === plainWords(other);
}

/** Whether a text asks for no more messages. */
export { asksToStop };
