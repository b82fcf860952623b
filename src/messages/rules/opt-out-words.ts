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

/** Words that may follow in any number, each after a space. */
const any = (...patterns: readonly string[]) => `(?: (?:${patterns.join('|')}))*`;

/*
 * The patterns below are of texts in plain form: small letters without accents, single spaces. What may follow a
 * request is closed: the messages, the list or the number that the request is about, and "ever again". So "darme de
 * baja del servicio" counts and "darme de baja de la tarjeta" does not.
 */
const TAIL_ES = any(
  'mas|nunca( mas)?|jamas|de nuevo|otra vez|de inmediato|inmediatamente|por favor',
  '(de|con|por) (parte de )?(ustedes|(su|esta|esa) (empresa|compania|entidad|parte))',
  '(por|en|via|a traves de) ((este|mi|el|su) )?(medio|whatsapp|wsp|numero|canal|chat|celular|telefono|aqui|sms)',
  '(a|de) (este|mi|ese) (numero|telefono|celular|whatsapp)',
  '(de|del|en) ((la|las|su|sus|esta|estas|esa|el|los|este|ese|tu|todas sus|todos sus) )?(listas?|bases?|servicios?|sistema|' +
    'registros?|contactos|mensajes|agenda|grupo|canal|suscripcion|publicidad|notificaciones|envios|aqui)' +
    '( de (datos|contactos?|mensajes|mensajeria|difusion|whatsapp|clientes|envios?|marketing|publicidad|ustedes))*',
);
const MESSAGES_ES =
  '((mas|nada|sus?|estos?|esos?|los|las|la|tantos?|ningun|este tipo de|esa clase de) )*(nada|mensajes?|msjs?|sms|whatsapps?|' +
  'publicidad|promociones|notificaciones|comunicaciones|informacion|spam|textos?)';
/** To write, as somebody asks for it, and as the infinitive and the gerund. */
const WRITE_ES =
  '(escriban?|escribas|contacten?|contactes|molesten?|molestes|llamen?|llames|busquen?|hablen?)';
const SEND_ES = '(manden?|mandes|envien?|envies)';
const TO_WRITE_ES = '(escribir|contactar|molestar|llamar|fastidiar|acosar|buscar|insistir)(me|nos)?';
const TO_SEND_ES = '(mandar|enviar|hacer)(me|nos)?';
const WRITING_ES = '(escribiendo|contactando|molestando|llamando|mandando|enviando)(me|nos)?';
const REMOVE_ES =
  '(eliminar|elimin[ae]n?|borrar|borr[ae]n?|quitar|quit[ae]n?|sacar|saca|saquen?|remover|remuev[ae]n?|retirar|retir[ae]n?|' +
  'excluir|excluyan?|desuscribir|desuscrib[ae]n?|desinscribir|desinscrib[ae]n?|desvincular|desvinculen?)';
const MINE_ES =
  '(mi|mis|este|el) (numero|telefono|celular|contacto|whatsapp|datos( personales)?|informacion personal|nombre)';
const PERMISSION_ES =
  '(la |mi |el )?(autorizacion|consentimiento|permiso)' +
  any(
    'para|de|del|al|el|la|mi|mis|que|me|uso|tratamiento|recibir|mensajes|publicidad|contacto|datos|personales|por|este|medio',
    `whatsapp|${WRITE_ES}|${SEND_ES}|${TO_WRITE_ES}|${TO_SEND_ES}`,
  );

const TAIL_PT = any(
  'mais|nunca( mais)?|de novo|imediatamente|por favor',
  '(de|com) (voces|sua (empresa|parte)|essa empresa|esta empresa)',
  '(por|pelo|no|neste|nesse) ((este|esse|meu) )?(meio|whatsapp|zap|numero|canal|chat|celular|telefone|aqui)',
  '(para|pra|a|de) (este|esse|meu|o meu) (numero|telefone|celular|whatsapp|zap)',
  '(d[aeo]s?|dess[ae]|dest[ae]|daqui|em|na|no)( (sua|suas|seu|seus|essa|esta|esse|este|a|o))?( (listas?|bases?|servico|sistema|' +
    'cadastro|contatos|mensagens|grupo|canal|aqui)( d[aeo]s? (dados|contatos?|mensagens|transmissao|clientes|envio|voces))*)?',
);
const MESSAGES_PT =
  '((mais|nada|nenhuma|suas?|essas?|estas?|as|esse tipo de|este tipo de) )*(nada|mensagens?|mensagem|msgs?|sms|whatsapp|publicidade|' +
  'propagandas?|notificacoes|spam)';
const WRITE_PT = '(escrevam?|(contat|incomod|perturb|cham|procur)(a|em?)|liga|liguem?)';
const SEND_PT = '(mand|envi)(a|em?)';
const TO_WRITE_PT = '(escrever|contatar|incomodar|perturbar|chamar|ligar|procurar)(me)?';
const TO_SEND_PT = '(mandar|enviar)(me)?';
const REMOVE_PT =
  '(remover|remov[ae]m?|excluir|exclu[ai]m?|tirar|tir[ae]m?|retirar|retir[ae]m?|apagar|apag[ua]em?|apaga|deletar|delet[ae]m?|' +
  'descadastrar|descadastr[ae]m?|desinscrever|desinscrev[ae]m?)';
const MINE_PT =
  '((o|a|os|as|este|esse) )?(meus?|minhas?|este|esse) (numero|telefone|celular|contato|whatsapp|zap|dados( pessoais)?|nome|cadastro)';

const TAIL_EN = any(
  'again|any ?more|ever( again)?|immediately|please|for good',
  '(from|of|off) (you|(the|this|your|any|all) (company|lists?|database|service|system|contacts|messages))',
  '(on|to|at|from) (this|my) (number|phone|whatsapp)',
  'on whatsapp',
);
const MESSAGES_EN =
  '((any|more|any more|your|these|the|further) )*(messages?|texts?|sms|spam|anything( else)?|promotions|ads)';

/** Requests that are read as such wherever a wish or a question leads to them: "¿me pueden ...?". */
const ACTS: Readonly<Record<'es' | 'pt' | 'en', readonly string[]>> = {
  es: [
    `(dar|darme|darnos|darse|dame|deme|den|denme|me (doy|den|dan|de)|ser dad[oa]) de baja( (a )?${MINE_ES})?${TAIL_ES}`,
    `${REMOVE_ES}(me|nos)${TAIL_ES}|(se )?me ${REMOVE_ES}${TAIL_ES}`,
    `${REMOVE_ES}( (a )?${MINE_ES}${TAIL_ES}| (de|del) (la|su|esta|esa|sus|el) (lista|listas|base|sistema)( de (datos|contactos))?)`,
    `(bloque|olvid|suprim)(en?|an?|ar|ir) ${MINE_ES}`,
    `(la )?(eliminacion|supresion|cancelacion|exclusion|baja) de ${MINE_ES}${TAIL_ES}`,
    `ser (eliminad|borrad|excluid|retirad|removid)[oa]${TAIL_ES}`,
    `(salir|salirme|me salgo) (de (la|las|su|sus|esta|este|ese|esa) (lista|listas|servicio|base|grupo|canal)|de aqui)${TAIL_ES}`,
    `(ya )?(dejen?|deja|dejes|dejar|paren?|para|cesen|eviten?|basta) (ya )?de (${TO_WRITE_ES}|${TO_SEND_ES}( ${MESSAGES_ES})?)${TAIL_ES}`,
    `(dejar|dejo) de recibir ${MESSAGES_ES}${TAIL_ES}|(dejar|dejo) de recibirlos`,
    `(cancel(ar|en?|o)|deten(er|gan?)|suspend(er|an?)|paren?|parar|alto|stop|basta|fin) ((a|de|con|el|los|las|la|sus|estos|esos) )*` +
      `(servicio de |envio de )?(mensajes|msjs?|notificaciones|publicidad|spam)${TAIL_ES}`,
    `(cancel(ar|en?|o)|anul(ar|en?|o)) (la |mi )?(suscripcion|inscripcion)${TAIL_ES}`,
    `(no|nunca|jamas) (quiero|deseo|quisiera|acepto|me interesa) (seguir )?(recibir|recibiendo)( ${MESSAGES_ES})?${TAIL_ES}`,
    `(no|nunca) (quiero|deseo) (?!nada$)${MESSAGES_ES}${TAIL_ES}|no recibir ${MESSAGES_ES}${TAIL_ES}`,
    `no (quiero|deseo|acepto|autorizo) ser (contactad|molestad|llamad|buscad)[oa]${TAIL_ES}`,
    `no (quiero|deseo|autorizo|permito|acepto) (a )?que (se )?(me|nos) (vuelvan a |sigan )?(${WRITE_ES}|${TO_WRITE_ES}|` +
      `${WRITING_ES}|(${SEND_ES}|${TO_SEND_ES})( ${MESSAGES_ES})?)${TAIL_ES}`,
    `no (quiero|deseo) saber (nada )?(mas )?de ustedes${TAIL_ES}`,
    `(no|nunca|jamas) (me |nos )?(vuelvan? a |vuelvas a |sigan? |sigas )?(${WRITE_ES}|${TO_WRITE_ES}|${WRITING_ES})${TAIL_ES}`,
    `(no|nunca|jamas) (me |nos )?(vuelvan? a |vuelvas a )?(${SEND_ES}|(mandar|enviar)(me)?)( ${MESSAGES_ES})?${TAIL_ES}`,
    `no mas ${MESSAGES_ES}${TAIL_ES}`,
    `(retir|revoc|quit|cancel)(o|ar) ${PERMISSION_ES}`,
    'me opongo al (uso|tratamiento) de mis datos( personales)?',
  ],
  pt: [
    `${REMOVE_PT} me${TAIL_PT}|me ${REMOVE_PT}${TAIL_PT}|me descadastrar`,
    `${REMOVE_PT} ${MINE_PT}(?! (da|do|de|no|na) (serasa|spc))${TAIL_PT}`,
    `bloque(ar|ie|iem) ${MINE_PT}`,
    `(a )?(exclusao|remocao|retirada) (d[oae]s? )${MINE_PT}${TAIL_PT}`,
    `(sair|saio) d(a|essa|esta) (sua )?(lista|base)( de (dados|contatos|transmissao))?`,
    `cancel(ar|em?|o) ((o|a|os|as|minha|meu|a minha|o meu) )?(cadastro|inscricao|assinatura)`,
    `(cancel(ar|em?|o)|par(ar|em?)|sem|chega) ((o|a|os|as|de|com|o recebimento de|o envio de|as suas|mais) )*(mensagens|mensagem)`,
    `(parem?|para|parar|chega|deixar) de (me )?(${TO_WRITE_PT}|${TO_SEND_PT}( ${MESSAGES_PT})?)${TAIL_PT}`,
    `(parar|deixar) de receber( ${MESSAGES_PT})?${TAIL_PT}`,
    `(nao|n) (quero|desejo|gostaria de|aceito) (mais )?receber( ${MESSAGES_PT})?${TAIL_PT}|(nao|n) receber ${MESSAGES_PT}${TAIL_PT}`,
    `(nao|n) (quero|desejo) (?!nada$)((mais )?contatos?|${MESSAGES_PT})${TAIL_PT}`,
    `(nao|n) (quero|desejo|aceito|autorizo) (mais )?ser (contatad|incomodad|perturbad|procurad)[oa]${TAIL_PT}`,
    `(nao|n) (quero|desejo) (mais )?que (voces )?me (${WRITE_PT}|${SEND_PT}( ${MESSAGES_PT})?)${TAIL_PT}`,
    `(nao|n) (me )?(${WRITE_PT}|escrever)${TAIL_PT}|(nao|n) (me )?(${SEND_PT}|mandar|enviar)( ${MESSAGES_PT})?${TAIL_PT}`,
    `(nao|n) entr(e|em) (mais )?em contato( comigo)?${TAIL_PT}`,
    '(revogo|retiro|cancelo|revogar|retirar) (o |a |meu |minha |o meu |a minha )?(consentimento|autorizacao|permissao)',
  ],
  en: [
    `stop ((messaging|texting|contacting|bothering|calling|spamming|writing)( to)?( me)?|sending( me)?( ${MESSAGES_EN})?)${TAIL_EN}`,
    `stop ((the|these|your|all) )*(messages|texts|messaging|spam)${TAIL_EN}`,
    `no more (messages|texts|spam)${TAIL_EN}`,
    `(do not|don t|dont|never) (message|text|contact|write|call)( to)?( me| this number)?${TAIL_EN}`,
    `(do not|don t|dont|never) send( me)?( ${MESSAGES_EN})${TAIL_EN}`,
    `(do not|don t|dont|no longer) (want|wish)( to)? (receive|get|be contacted|be texted|be messaged|receiving)( ${MESSAGES_EN})?${TAIL_EN}`,
    `(do not|don t|dont|no longer) want ${MESSAGES_EN}${TAIL_EN}|stop (receiving|getting) ${MESSAGES_EN}${TAIL_EN}`,
    `(unsubscribe|opt ?out)( me)?${TAIL_EN}|opt me out${TAIL_EN}`,
    `(take|remove|delete) me${TAIL_EN}`,
    `(take|remove|delete|block|forget) my ((phone )?number|(personal )?data|contact)( off| from)?${TAIL_EN}`,
    'leave me alone',
    `(withdraw|revoke|cancel) (my |the )?(consent|permission|authori[sz]ation)`,
  ],
};

/** Requests in so few words that nothing but courtesy may stand around them: "quiero cancelar" may be about a debt. */
const ALONE: readonly string[] = [
  '((solicito|pido|quiero|deseo) )?(la |mi )?baja( (de|del) (la |su |esta |sus |el )?(lista|servicio|base de datos|sistema))?',
  'salir|parar?|paren|alto|detener|detengan?|detente|basta|cancelar|cancelen?|eliminar|borrar|remover|salirme',
  'retirar|quitar|revocar|revoco|(quiero|deseo) retirarme|me (quiero|deseo) retirar|(eliminen|borren|quiten|saquen|remuevan|retiren)',
  '(desuscribir|desinscribir)(me|se)?|(ya )?no mas|(ya )?no (quiero|deseo) mas|(ya )?no (quiero|deseo) recibir|no molestar',
  'sair|quero sair|pare|parem?|chega|cancelar?|cancelem|remover|remova|remove|excluir|exclua',
  'descadastr(ar|em|o)|descadastro|desinscrever|desinscreva|descadastramento|(quero )?me descadastrar',
  '(ja )?(nao|n) quero mai?s( nada| receber)?|(nao|n) (enviar|mandar) mais',
  'stop|stop ?all|quit|end|revoke|opt ?out|cancel|unsubscribe|remove|remove me|arret',
];

/** More requests. As a question they ask for something else: "¿es spam?". */
const STATEMENTS: readonly string[] = [
  '((esto|eso|este mensaje|isso|isto) )?((es|e) )?(un )?spam|(this|it) is spam|(it|that) s spam',
  '(los |les |te )?(report[oa]|reportad[oa]s?|denuncio|denunciad[oa]s?) (por|como) spam',
  '(yo )?no (los |les |lo |te )?(autorizo|autorice)( (esto|nada|mensajes?|estos mensajes|sus mensajes))?( mas)?( mensajes?)?',
  `no (autorizo|autorice) (recibir (mas )?(mensajes?|publicidad)|(el )?(contacto|uso de mis datos( personales)?|tratamiento de mis datos( personales)?))${TAIL_ES}`,
  `(yo )?no (les |le )?(di|he dado|doy) ${PERMISSION_ES}`,
  '(eu )?(nao|n) (autorizo|autorizei) (o |esse |este )?(contato|uso d[oe]s? meus dados( pessoais)?)',
  'ya no (quiero|deseo)( nada)?( mas)?',
];

/** Words of courtesy: they change nothing of what the words beside them mean. */
const COURTESY =
  'por favor|x favor|porfavor|porfa|pf|pfv|please|pls|plz|(muchas |mil )?gracias|grac|obrigad[oa]|por gentileza|thanks|' +
  'thank you|hola|buenas?( (dias|tardes|noches))?|buenos dias|ola|oi|bom dia|boa (tarde|noite)|hello|hi|' +
  'senor(es)?|senora|senhor(es)?|senhora|amig[oa]s?|ya|ja';
/** Words that refuse by themselves: beside a request they change nothing of it, and beside a "yes" they do. */
const NO_INTEREST =
  'no me interesa( mas)?|no (estoy|soy) interesad[oa]|no gracias|nao me interessa( mais)?|nao tenho( mais)? interesse|' +
  'sem interesse|nao obrigad[oa]|not interested|no thanks?|no thank you';
/** What leads to an act, and changes nothing of what it asks for. */
const LEADS_TO =
  '(yo |eu |i )?(quiero|quisiera|deseo|desearia|solicito|pido|exijo|necesito|requiero|me gustaria|quero|gostaria de|desejo|' +
  'preciso|want to|want|would like to|d like to|wish to)|(les?|te) (pido|solicito|ruego|agradezco|agradeceria)|agradezco|agradeceria|' +
  'favor( de)?|me|que|se|yo|eu|i|please|kindly|(pueden?|podrian?|podrias?|puedes|podem?|poderiam?|poderia|can you|could you)( por favor)?|' +
  'como|how|(le )?hago|puedo|hacer|faco|posso|do i|can i|para|a partir de (hoy|ahora|agora)|desde (hoy|ahora)';

const wholly = (patterns: readonly string[]) => new RegExp(`^(?:${patterns.join('|')})$`);
const ACT = wholly(Object.values(ACTS).flat());
const REQUEST_ALONE = wholly(ALONE);
const STATEMENT = wholly(STATEMENTS);
const LEAD = new RegExp(`^(?:${LEADS_TO}) `);
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
  const isAsked = isQuestion(text);
  for (const { words } of coresOf(text)) {
    if (REQUEST_ALONE.test(words) || (!isAsked && STATEMENT.test(words))) return true;
    for (let act = words; ; act = act.replace(LEAD, '')) {
      if (ACT.test(act)) return true;
      if (!LEAD.test(act)) break;
    }
  }
  return false;
}
