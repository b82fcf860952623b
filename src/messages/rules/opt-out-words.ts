/**
 * Recognises texts that ask for no more messages. Pure.
 *
 * WhatsApp's Business Messaging Policy requires senders to respect every such request, in any words, and lists none.
 * The laws of the recipients' countries let people withdraw consent at any time, as easily as they gave it: Brazil's
 * LGPD (Lei 13.709/2018, art. 8 § 5 and art. 18 IX), Colombia's Ley 1581 of 2012 (art. 8 e) and Ley 2300 of 2023,
 * Mexico's LFPDPPP. These laws have no list of words. The USA have one, 47 CFR 64.1200(a)(10): stop, quit, end, revoke,
 * opt out, cancel, unsubscribe. The other patterns are words that senders in Latin America ask people to write, and
 * words that people write on their own. Counsel has the last word.
 *
 * A request counts only where it is the whole message. Within a sentence the same words may ask for something else:
 * "¿me pueden dar de baja el interés?". A "no, thanks" to an offer does not ask for an end of messages.
 */
import { plainWords } from './plain-words.ts';

/** Patterns of a whole message by language, in plain form: small letters without accents, single spaces. */
const REQUESTS: Readonly<Record<'es' | 'pt' | 'en', readonly string[]>> = {
  es: [
    'baja',
    '(solicito|pido|quiero) (la |mi )?baja',
    '(me )?(quiero |deseo |solicito |necesito |favor )?(que )?(me )?(pueden? )?(dar|den|de|deme|denme|dame|darme|darse) de baja' +
      '( (a )?(mi|este) (numero|telefono|celular))?( de (la|esta|su) lista)?',
    '(baja|salir) de (la|esta|su) lista',
    'salir|parar?|paren|alto|detener|detengan?|detente|basta|cancelar|cancelen?|eliminar(me)?|borrar(me)?|remover(me)?',
    'retirar(me)?|quitar(me)?|revocar|revoco|(quiero|deseo) retirarme|me (quiero|deseo) retirar',
    '(eliminen|borren|quiten|saquen|remuevan|retiren)( de (la|esta|su) lista)?',
    '(elimin(a|e|en)|borr(a|e|en)|quit(a|e|en)|saca|saquen?|remuev(a|e|an)|retir(a|e|en))me( de (la|esta|su) lista)?',
    '((quiero |deseo |solicito |pido )?que )?me (elimin|borr|quit|retir)[ae]n( de (la|esta|su) lista)?',
    '(quiero |deseo )?(desuscribir|desinscribir)(me|se)?',
    '(eliminar|eliminen|borrar|borren|quitar|quiten|saquen|retirar|retiren) mi (numero|telefono|celular)' +
      '( de (la|esta|su) lista)?',
    '(quiero |deseo |solicito )?(retir|revoc|quit|cancel)(o|ar) (la |mi |el )?(autorizacion|consentimiento|permiso)',
    '(quiero |deseo )?(cancelar|anular) (la |mi )?(suscripcion|inscripcion)',
    '(ya )?no mas( mensajes?| whatsapps?| publicidad| spam)?',
    '(ya )?no (quiero|deseo) mas( mensajes?| publicidad)?',
    '(ya )?no (quiero|deseo) (recibir |que me (manden|envien) )?(mas )?(sus )?(mensajes?|publicidad|spam)',
    '(ya )?no (quiero|deseo) (recibir|que me escriban|que me contacten)( nada)?( mas)?',
    '(ya )?no (me )?(escriban?|escribas|contacten?|contactes|molest(ar|en?|es)|llamen)( mas)?',
    '(ya )?no (me )?(mandar|manden?|mandes|enviar|envien?|envies)( nada)?( mas)?( mensajes?| publicidad)?',
    'basta de (mensajes|publicidad|spam)',
    '(dejen?|deja|paren?) de (escribir|molestar|contactar|mandar|enviar|hacer)(me)?( mensajes?| spam)?',
  ],
  pt: [
    'sair|pare|parem?|parar|chega|cancelar?|cancelem|remover|remova|remove|excluir|exclua',
    'descadastr(ar|e|em|o)( me| se)?|descadastro|desinscrever|desinscreva|descadastramento',
    '(quero |gostaria de |desejo )?(me )?(descadastrar|desinscrever)( me)?',
    '(quero |gostaria de |desejo )?(sair|me tir(ar|em?|a)|me remov(er|am?)|me exclu(ir|am?))( (da|dessa|desta|sua) lista)?',
    '(quero |gostaria de |desejo )?cancelar (a |minha |a minha )?(inscricao|assinatura)',
    '(ja )?(nao|n) quero mai?s( mensagens| mensagem| nada)?',
    '(ja )?(nao|n) quero (mais )?(receber|que me mandem)( mais)?( nada)?( suas)?( mensagens| mensagem| publicidade)?( mais)?',
    '(nao|n) (me )?(mand(ar|em?)|envi(ar|em?)|escrev(er|am?))( mais)?( nada)?( mensagens| mensagem)?( mais)?',
    '(nao|n) me (incomode|incomodem|perturbe|perturbem|contate|contatem)( mais)?',
    '(pare|parem|para) de (me )?(mandar|enviar|escrever|incomodar|perturbar)( mensagens| mensagem)?',
    '(chega de|sem mais) (mensagens|mensagem)',
  ],
  en: [
    'stop|stop ?all|quit|end|revoke|opt ?out|cancel|unsubscribe|remove|remove me|arret',
    'stop (messages|messaging( me)?|texting( me)?|sending( me)?( messages)?)',
    'no more( messages)?',
    '(do not|don t|dont) (message|text|contact|write)( to)? me( again| any ?more)?',
    '(i want to |i d like to |please )?(unsubscribe|opt out)( me)?',
    '(take|remove) me (off|from) (the|this|your) list',
  ],
};

/** More requests in Spanish. As a question they ask for something else: "¿es spam?". */
const STATEMENTS: readonly string[] = [
  '((esto|eso|este mensaje) )?(es )?(un )?spam',
  '(los |les |te )?(report[oa]|reportad[oa]s?|denuncio|denunciad[oa]s?) (por|como) spam',
  '(yo )?no (los |les |lo |te )?(autorizo|autorice)( (esto|nada|mensajes?|estos mensajes|sus mensajes))?( mas)?( mensajes?)?',
  'no (autorizo|autorice) (que me (escriban|contacten|llamen|manden|envien)|a que me (escriban|contacten|llamen))' +
    '( mas)?( mensajes?)?',
  'no (autorizo|autorice) (recibir (mas )?(mensajes?|publicidad)|(el )?(uso|tratamiento) de mis datos( personales)?)',
  'ya no (quiero|deseo)( nada)?( mas)?',
];

/** Words of courtesy: they change nothing of what the words beside them mean. */
const COURTESY =
  'por favor|x favor|porfavor|porfa|pf|pfv|please|pls|plz|(muchas |mil )?gracias|grac|obrigad[oa]|por gentileza|thanks|' +
  'thank you|hola|buenas?( (dias|tardes|noches))?|buenos dias|ola|oi|bom dia|boa (tarde|noite)|hello|hi|' +
  'senor(es)?|senora|senhor(es)?|senhora|amig[oa]s?|ya|ja';
/** Words that refuse by themselves: beside a request they change nothing of it, and beside a "yes" they do. */
const NO_INTEREST = 'no me interesa( mas)?|nao me interessa( mais)?|nao tenho( mais)? interesse';

const wholly = (patterns: readonly string[]) => new RegExp(`^(?:${patterns.join('|')})$`);
const REQUEST = wholly([...Object.values(REQUESTS).flat(), ...STATEMENTS]);
const REQUEST_AS_QUESTION = wholly(Object.values(REQUESTS).flat());
/** `BAJA BAJA`, on one line or on two. */
const REPEATED = /^(.+?)(?: \1)+$/;
const AROUND = [COURTESY, NO_INTEREST].map((words) => ({
  before: new RegExp(`^(?:${words}) `),
  after: new RegExp(` (?:${words})$`),
  refuses: words === NO_INTEREST,
}));
/** A longer text says more than a request. The length is that of the text as written. */
const MAX_LENGTH = 120;

/** A text without some of what may stand around it. `refuses`: words that refuse were among that. */
export interface Core {
  readonly words: string;
  readonly refuses: boolean;
}

/**
 * The text in plain words, whole and without some of the courtesy around it, the longest first. A text that is said
 * twice counts once. Of a long text there is none. What a text means and whether it asks for no more messages are both
 * read of these, so that a text which does both never loses its meaning.
 */
export function* coresOf(text: string): Generator<Core, void> {
  if (text.length > MAX_LENGTH) return;
  for (const begun of without('before', { words: plainWords(text), refuses: false })) {
    yield* without('after', begun);
  }
}

/** The words, and what is left of them as one courtesy after the other is left out at this side. */
function* without(side: 'before' | 'after', core: Core): Generator<Core, void> {
  const words = core.words.replace(REPEATED, '$1');
  yield { ...core, words };
  const found = AROUND.find((one) => one[side].test(words));
  if (found === undefined) return;
  yield* without(side, { words: words.replace(found[side], ''), refuses: core.refuses || found.refuses });
}

/** Whether a text asks something, so that it states nothing. */
export function isQuestion(text: string): boolean {
  return /[?¿？]/.test(text);
}

/** True where the whole text asks for no more messages, in any spelling that `plainWords` unites. */
export function asksToStop(text: string): boolean {
  const request = isQuestion(text) ? REQUEST_AS_QUESTION : REQUEST;
  for (const { words } of coresOf(text)) if (request.test(words)) return true;
  return false;
}
