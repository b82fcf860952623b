/**
 * What a text means, in Spanish, Portuguese or English, whatever the language of the conversation is. Only the whole
 * text counts: "no entiendo" is no refusal. Pure. The lists are the home of the rule; docs/conversation.md explains it
 * ("Inputs, turns and replies").
 */
import { asksToStop, coresOf, isQuestion, plainWords } from '../message/opt-out-words.ts';

/**
 * The meanings that a text can have beside an opt-out. `mistaken`: either a wrong person, or that something else is
 * wrong, such as the amount.
 */
const MEANINGS = [
  'yes',
  'no',
  'accept',
  'withdraw',
  'done',
  'skip',
  'change',
  'connect',
  'person',
  'wrong_person',
  'mistaken',
  'later',
  'resend',
  'thanks',
] as const;
export type Meaning = (typeof MEANINGS)[number];

/**
 * The object of a withdrawal, perhaps with its number. The number is not compared, because a phone has one signed
 * contract that is meant.
 */
const NUMBER = '( (n|no|n o|nro|num|numero|number))?( [0-9]{1,12})?';
const OBJECT_ES = `( (del|de mi|de este|de la firma del|al|mi|el|este) (contrato|credito|prestamo)( de (credito|prestamo))?${NUMBER})?`;
const OBJECT_PT = `( (do|do meu|deste|o|meu) (contrato|credito|emprestimo|pedido)( de (credito|emprestimo))?${NUMBER})?`;
const OBJECT_EN = `( (from )?(the|my|this) ((loan|credit) )?(contract|agreement|loan|credit|application)${NUMBER})?`;

/**
 * Words of the right to withdraw from a signed contract, as patterns. The message after a signature names the right.
 */
const TAKES_BACK = [
  `(yo )?(me )?retracto${OBJECT_ES}|retract(ar|arme)${OBJECT_ES}`,
  `(quiero|deseo|solicito|voy a) (el )?retract(o|ar|arme)${OBJECT_ES}|me (quiero|deseo) retractar${OBJECT_ES}`,
  '(yo )?(quiero |deseo |solicito |voy a |por la presente )?(ejerzo|ejercer|uso|usar|hago uso|hacer uso) ' +
    `(de |del )?(mi |el )?(derecho (de|al) )?retracto${OBJECT_ES}`,
  `(mi )?derecho (de|al) retracto${OBJECT_ES}`,
  `(yo )?((quiero|deseo) )?desist(o|ir)${OBJECT_ES}`,
  `(eu )?desist(o|ir|i)${OBJECT_PT}|(quero|desejo|gostaria de) desistir${OBJECT_PT}`,
  `(exerco|exercer|(quero|desejo) exercer) (o |meu |o meu )?direito de arrependimento${OBJECT_PT}`,
  '(direito de )?arrependimento',
  `(i |i want to |i d like to |i would like to |please )?withdraw${OBJECT_EN}`,
] as const;

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
    'no|nop|no gracias|no quiero|mejor no|no estoy de acuerdo|no (los |les )?autorizo|rechazo',
    '(yo )?no (lo )?(acepto|firmo)( (el|este) contrato)?|no (lo )?(quiero|deseo|voy a) (aceptar|firmar)( (el|este) contrato)?',
    '(yo )?no (los |les |lo |te )?(autorizo|autorice)( (el )?(uso|tratamiento) de mis datos( personales)?)?',
    'nao|n|nao obrigad[oa]|nao quero|nao (eu )?autorizo|nao concordo|nao aceito( (o|este) contrato)?|recuso',
    '(eu )?nao (quero|vou) (aceitar|assinar)( (o|este) contrato)?|(eu )?nao assino',
    'nope|no thanks?|no thank you|i do not agree|i don t agree|i disagree|i refuse',
    'i (do not|don t|will not|won t) (accept|sign)( (it|the contract|this contract))?|i (do not|don t) want to sign( it)?',
  ],
  accept: [
    '(si )?(yo )?(lo )?acepto( el contrato)?',
    '(sim )?(eu )?aceito( o contrato)?',
    '(yes )?i accept( the contract)?|accept',
  ],
  withdraw: [
    ...TAKES_BACK,
    'cancelar|cancelen|cancel[oa]|(quiero )?cancelar( (el|mi) (contrato|credito|solicitud))?',
    '(me )?retir(o|ar|arme|enme)|retir(a|e)me|me (quiero|deseo) retirar|(quiero|deseo) retirarme( del (contrato|credito))?',
    'me retiro( del (contrato|credito))?',
    'me arrepenti|ya no (lo )?quiero( (el|este) (contrato|credito|prestamo))?|ya no (quiero|deseo)( nada)?( mas)?',
    `me arrepiento${OBJECT_ES}|(quiero |deseo )?anular${OBJECT_ES}|no quiero (el|este) (contrato|credito|prestamo)`,
    '((quiero|deseo|solicito) )?(retir|revoc|quit|cancel)(o|ar) (la |mi |el )?(autorizacion|consentimiento|permiso)',
    '(quiero )?revocar|revoco|cancelem',
    '(quero )?cancelar( (do|o|meu) (contrato|credito|pedido))?|me arrepend[io]',
    '(ja )?(nao|n) quero mai?s( nada| (o|este) (contrato|credito|emprestimo))?',
    'i (changed my mind|regret it)',
    '(i want to |i d like to |please )?cancel( (from )?(the|my) (contract|loan|credit|application))?|revoke',
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
  change: [
    '(quiero |necesito )?(cambiar|corregir|modificar)(la|las)?( (la|mi) lista| (las|mis) deudas| algo)?|(la lista )?(esta mal|no esta bien)',
    '(quero |preciso )?(mudar|corrigir|alterar)( (a|minha) lista| (as|minhas) dividas)?|(a lista )?esta errad[oa]',
    '(i want to |i need to )?(change|correct)( (it|the list|my list|my debts))?|(it|the list) is wrong',
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
    '((es|este es) )?(un |el )?(numero|telefono) (equivocado|errado)|(estas?|estan|esta) equivocad[oa]s? de (numero|persona|telefono)',
    '(te |se )?equivoc(aste|o|aron) de (numero|persona|telefono)|(yo )?no soy (esa persona|quien (buscas?|buscan))',
    '(este|ese) (no es|ya no es) (el |su )(numero|telefono)( de esa persona)?|ya no es su (numero|telefono)',
    'no conozco a (esa|esta) persona|no conozco a nadie (con|de) ese nombre|aqui no vive (esa persona|nadie con ese nombre)',
    '(um )?numero errado|(voces? )?(esta|estao) com o numero errado|(eu )?nao sou (essa|esta) pessoa',
    '(este|esse) (nao e|nao e mais) o (numero|telefone)( dele| dela| dessa pessoa)?|nao conheco (essa|esta) pessoa',
    '(you have the |this is the |sorry )?wrong (number|person)|i( am|m| m) not (that|this) person|i don t know (that|this) person',
  ],
  mistaken: [
    '(estas?|estan|esta) equivocad[oa]s?|(te |se )?equivoc(aste|o|aron)|(yo )?no soy (yo|el|ella)',
    '(e |foi )?(um )?engano|(eu )?nao sou (eu|ele|ela)',
    '(this is |it s )?not me',
  ],
  later: [
    '(no )?todavia( no)?|(no )?aun( no)?|ahora no|no ahora|mas tarde|despues|luego|en un rato|otro dia|manana',
    '(nao )?ainda( nao)?|agora nao|nao agora|mais tarde|depois|amanha',
    'not (yet|now)|later|maybe later|tomorrow',
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
/** Emoji that people send in place of a word. */
const THUMB_UP = /^\s*[\u{1F44D}\u{1F44C}\u{2705}\u{1F64C}][\u{1F3FB}-\u{1F3FF}]?\s*$/u;

/** The only meanings that count in a text that also refuses something: "ok, no me interesa" consents to nothing. */
const OF_REFUSAL: readonly Meaning[] = ['no', 'withdraw'];

/** The meanings that a question can have. A question never consents, accepts, refuses, withdraws or ends a step. */
const OF_QUESTION: readonly Meaning[] = ['connect', 'person', 'wrong_person', 'mistaken', 'resend', 'thanks'];

/** "No, acepto" is "I do not accept" or "no, I do accept": only the person knows which. */
const NO_BEFORE = /^\s*(?:n[oã]+|n[aã]o|nop|n)\s*[,;.:]+(.+)$/isu;
const CONSENTS: readonly Meaning[] = ['yes', 'accept'];

/** What a text can mean. A word may mean several things; the open question decides which one counts. */
export function meaningsOf(text: string): ReadonlySet<Meaning> {
  if (THUMB_UP.test(text)) return new Set(['yes', 'thanks']);
  return new Set(saysBoth(text) ? [] : meantBy(text)?.meanings);
}

function saysBoth(text: string): boolean {
  const rest = NO_BEFORE.exec(text)?.[1] ?? '';
  return meantBy(rest)?.meanings.some((meaning) => CONSENTS.includes(meaning)) === true;
}

/** The words of a text that mean something, without courtesy around them; null: it means nothing. */
function meantBy(text: string): { readonly words: string; readonly meanings: readonly Meaning[] } | null {
  for (const { words, refuses } of coresOf(text)) {
    const meanings = COMPILED.filter(([, pattern]) => pattern.test(words)).map(([meaning]) => meaning);
    const counted = meanings.filter(
      (meaning) =>
        (!refuses || OF_REFUSAL.includes(meaning)) && (!isQuestion(text) || OF_QUESTION.includes(meaning)),
    );
    if (counted.length > 0) return { words, meanings: counted };
  }
  return null;
}

const TAKING_BACK = new RegExp(`^(?:${TAKES_BACK.join('|')})$`);
const APPLICATION = /\b(solicitud|pedido|application)\b/;
const CONTRACT = /\b(contrato|credito|prestamo|emprestimo|contract|loan|credit)\b/;

/** Beginnings of words that may belong to a wish to withdraw, whatever the rest of the text says. */
const MAY_WITHDRAW = new RegExp(
  '\\b(retract|retrat|retir|desist|arrep|anul|cancel|withdr|revo[ck]|rescind|devolv|devuelv|renunci|salirme|' +
    'cambi\\w+ de (idea|opinion)|mud\\w+ de ideia|chang\\w+ my mind|' +
    'no (lo )?(quiero|deseo)|nao (o )?quero|n quero|don t want|do not want)',
);
/** Of these, the beginnings that only withdraw from a signed contract. */
const MAY_TAKE_BACK = /\b(retract|desist|arrependiment|withdr)/;

/** Whether a text of any length may be a wish to withdraw, which a person has to read. */
export function mayWithdraw(text: string): boolean {
  return MAY_WITHDRAW.test(plainWords(text));
}

/**
 * What a wish to withdraw is about. `signature`: it has words of the right that only a signed contract gives, such as
 * RETRACTO, DESISTO and WITHDRAW, also among words that are not understood (D46, docs/signing.md). `contract`: it names
 * a contract or a credit. `anything`: it names an application, or nothing. Null: the text is no such wish.
 */
export function withdrawalOf(text: string): 'signature' | 'contract' | 'anything' | null {
  const meant = meantBy(text);
  if (!meant?.meanings.includes('withdraw')) {
    const words = plainWords(text);
    return MAY_TAKE_BACK.test(words) && !APPLICATION.test(words) ? 'signature' : null;
  }
  if (APPLICATION.test(meant.words)) return 'anything';
  if (TAKING_BACK.test(meant.words)) return 'signature';
  return CONTRACT.test(meant.words) ? 'contract' : 'anything';
}

/** Whether a text is only "no". What it refuses depends on the question. */
export function isBareNo(text: string): boolean {
  return /^(no|nop|nope|nao|n)$/.test(meantBy(text)?.words ?? '');
}

/**
 * Whether a person wrote this title, whatever the capitals, accents and punctuation. A question is not the title of a
 * statement.
 */
export function isTitle(text: string, title: string): boolean {
  const plain = plainWords(text);
  return (
    (!isQuestion(text) || isQuestion(title)) && !saysBoth(text) && plain !== '' && plain === plainWords(title)
  );
}

/** Whether a text asks for no more messages. */
export { asksToStop };
