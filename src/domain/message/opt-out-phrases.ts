/**
 * The words of requests for no more messages, as patterns of texts in plain form: small letters without accents, single
 * spaces. `opt-out-words.ts` makes that form, reads with the patterns, and names the laws. Pure.
 */

/** Words that may follow in any number, each after a space. */
const any = (...patterns: readonly string[]) => `(?: (?:${patterns.join('|')}))*`;

/**
 * The closed list of what may follow a request: the messages, the list or the number that the request is about, and
 * "ever again". So "darme de baja del servicio" counts and "darme de baja de la tarjeta" does not.
 */
const TAIL_ES = any(
  'mas|nunca( mas)?|jamas|de nuevo|otra vez|de inmediato|inmediatamente|por favor|(de|sobre|con) (eso|esto)',
  'de ahi|(de|con|por|a) (parte de )?(ustedes|mi|nosotros|(su|esta|esa) (empresa|compania|entidad|parte))',
  'con (los|las|sus|tus|estos|esos|esas|tantos) (mensajes|msjs?|whatsapps?|promociones|ofertas)',
  '(por|en|via|a traves de) ((este|mi|el|su) )?(medio|whatsapp|wsp|numero|canal|chat|celular|telefono|aqui|sms)',
  '(a|de) (este|mi|ese) (numero|telefono|celular|whatsapp)',
  '(de|del|en) ((la|las|su|sus|esta|estas|esa|el|los|este|ese|tu|tus|todas sus|todos sus) )?(listas?|bases?|servicios?|sistema|' +
    'registros?|contactos|mensajes|agenda|grupo|canal|chat|suscripcion|publicidad|notificaciones|envios|aqui)' +
    '( de (datos|contactos?|mensajes|mensajeria|difusion|whatsapp|clientes|envios?|marketing|publicidad|ustedes))*',
);
const MESSAGE_ES =
  '(nada|mensaj(e|ito)s?|msjs?|sms|(whats?|gu?a)s?apps?|wsp|publicidad|propagandas?|promo(cione)?s|ofertas|notificaciones|' +
  'comunicaciones|informacion|spam|textos?|h?u?weas|huevadas|tonterias|porquerias)( de (credito|prestamo)s?)?';
/** "No quiero llamadas" may ask to write instead. So calls count only together with messages. */
const CALLS_ES = '(llamadas|correos)';
const MESSAGES_ES =
  `((mas|nada|sus?|tus?|est[aeo]s?|es[aeo]s?|los|las|la|tant[ao]s?|ningun[ao]?|este tipo de|esa clase de|de) )*(${CALLS_ES} (ni|y|o) )?${MESSAGE_ES}` +
  `( (ni|y|o) (${MESSAGE_ES}|${CALLS_ES}))*`;
/** What was sent, without a name: "no me manden esto" may be about a document, "no me manden más esto" is not. */
const SENT_ES = `(${MESSAGES_ES}|mas (esto|eso|(estas |esas )?cosas)|(esto|eso|(estas |esas )?cosas) mas|este tipo de cosas)`;
/** To write, as somebody asks for it, and as the infinitive and the gerund. */
const WRITE_ES =
  '(escriban?|escribas|escribieran|contact(en?|es|aran)|molest(en?|es|aran)|llam(en?|es|aran)|busquen?|hablen?|insist(an?|as)|' +
  '(fastidi|incomod|hostigu|atosigu)en?|acosen?)';
/** To annoy, in words of the street. In the singular, and without "me", they may be a cry: "¡no jodas!". */
const ANNOY_ES =
  '(jodan|chinguen|frieguen|((hinch|romp)[ae]n( mas)?( (las|los) [a-z]+)?)|(hue|we)v?een|den( mas)? lata)';
const SEND_ES = '(manden?|mandes|mandaran|envien?|envies|enviaran)';
const TO_WRITE_ES =
  '((escribir|contactar|molestar|llamar|fastidiar|acosar|buscar|insistir|incomodar|hostigar|joder|chingar|fregar|hinchar|webear|spamear|' +
  'huevear)(me|nos)?|(romper|hinchar)(me)? (las|los) [a-z]+|dar(me)? lata)';
const TO_SEND_ES = '(mandar|enviar|hacer)(me|nos)?';
const WRITING_ES =
  '(escribiendo|contactando|molestando|llamando|fastidiando|acosando|insistiendo|buscando|hostigando|jodiendo|chingando|fregando|' +
  'hinchando|hueveando|webeando)(me|nos)?';
const SENDING_ES = '(mandando|enviando|haciendo)(me|nos)?';
/** A threat, and what it is for: "los denuncio si me vuelven a escribir". */
const THREAT_ES = '(los|les|las) (voy a )?(report|denunci|bloque)(ar|o)';
const IF_AGAIN_ES = `si (me )?(siguen?|vuelven?) (a )?(${TO_WRITE_ES}|${WRITING_ES}|${TO_SEND_ES}|${SENDING_ES})`;
/** What follows "no" and "no quiero que". The singular in -e, without "me", may be the past: "no envie nada". */
const GO_ON_ES =
  '((me|nos|le|les|se) )*(vuelvan?|vuelvas|sigan?|sigas|continuen?|esten?|estes|anden?|andes|volver|seguir) (a )?';
const NO_MORE_ES =
  `((${GO_ON_ES})?(me |nos )(${WRITE_ES}|${ANNOY_ES})( (ni|y|o) (me )?(${WRITE_ES}|${SEND_ES}( ${SENT_ES})?))*|` +
  `(${GO_ON_ES})?(me |nos )?(${TO_WRITE_ES}|escriban?|escribas|molest(e|en|es)|(contact|llam|busqu|habl|fastidi)en|insist(an?|as))` +
  `( (ni|y|o) (me )?(${WRITE_ES}|${TO_WRITE_ES}|${SEND_ES}( ${SENT_ES})?))*|` +
  `(me |nos )?${GO_ON_ES}(${WRITING_ES}|${SENDING_ES}( ${SENT_ES})?)|` +
  `(${GO_ON_ES})?((me |nos )${SEND_ES}|mand(en|ar(me)?)|envi(en|ar(me)?))( ${SENT_ES})?|` +
  `(mande|envie) ((mas|sus|estos|esos) )*mensajes)`;
const REMOVE_ES =
  '(eliminar|elimin[ae]n?|bloquear|bloqueen?|borrar|borr[ae]n?|quitar|quit[ae]n?|sacar|saca|saquen?|remover|remuev[ae]n?|retirar|retir[ae]n?|' +
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
  'mais|nunca( mais)?|de novo|imediatamente|por favor|dai|agora mesmo|sobre (isso|isto)',
  '(de|com) (voces|sua (empresa|parte)|essa empresa|esta empresa)',
  '(por|pelo|no|neste|nesse) ((este|esse|meu) )?(meio|whatsapp|zap|numero|canal|chat|celular|telefone|aqui)',
  '(para|pra|a|de) (este|esse|meu|o meu) (numero|telefone|celular|whatsapp|zap)',
  '(d[aeo]s?|dess[ae]|dest[ae]|daqui|em|na|no)( (sua|suas|seu|seus|essa|esta|esse|este|a|o))?( (listas?|bases?|servico|sistema|' +
    'cadastro|contatos|mensagens|grupo|canal|aqui)( d[aeo]s? (dados|contatos?|mensagens|transmissao|clientes|envio|voces))*)?',
);
const MESSAGES_PT =
  '((mais|nada|nenhuma|suas?|essas?|estas?|as|esse tipo de|este tipo de) )*(nada|mensagens?|mensagem|msgs?|sms|whatsapp|publicidade|' +
  'propagandas?|notificacoes|spam)';
const SENT_PT = `(${MESSAGES_PT}|(mais )?(isso|isto|essas coisas)( mais)?)`;
const WRITE_PT =
  '(escrevam?|(contat|incomod|perturb|cham|procur|amol)(a|em?)|liga|liguem?|insista?m?|ench(a|am|e)( mais)? o saco)';
const SEND_PT = '(mand|envi)(a|em?)';
/** What follows "não". The singular in -a alone may be about somebody else: "não envia" (it does not send). */
const NO_MORE_PT =
  `((fiquem?|fica) me (escrevendo|ligando|incomodando|perturbando|chamando|(mandando|enviando)( ${SENT_PT})?)|(continuem?|voltem?) (a )?me ` +
  `(escrevendo|(mandando|enviando)( ${SENT_PT})?|escrever|ligar|chamar|(mandar|enviar)( ${SENT_PT})?)|(me )?(escrevam?|escrever|` +
  `(contat|incomod|perturb|cham|procur|amol|lig)u?em?|insista?m?|entrem em contato( comigo)?|encham?( mais)? o saco)|me ${WRITE_PT}|${WRITE_PT} mais|` +
  `(me )?((mand|envi)em?|mandar|enviar)( ${SENT_PT})?|me ${SEND_PT}( ${SENT_PT})?|${SEND_PT} (${SENT_PT}|mais))`;
const TO_WRITE_PT =
  '((escrever|contatar|incomodar|perturbar|chamar|ligar|procurar|amolar|insistir)(me)?|encher(( meu| o)? saco)?)';
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
  'on whatsapp|about (it|this|that)',
);
const MESSAGES_EN =
  '((any|more|any more|your|these|the|further) )*(messages?|msgs?|texts?|sms|spam|stuff|anything( else)?|promotions|ads)';

/** Requests that stay requests after a wish or a question: "¿me pueden ...?". */
export const ACTS: Readonly<Record<'es' | 'pt' | 'en', readonly string[]>> = {
  es: [
    `(dar|darme|darnos|darse|dame|deme|den|denme|me (doy|den|dan|de)|ser dad[oa]) de baja( (a )?${MINE_ES})?${TAIL_ES}`,
    `${REMOVE_ES}(me|nos)${TAIL_ES}|(se )?me ${REMOVE_ES}${TAIL_ES}`,
    `${REMOVE_ES}( (a )?${MINE_ES}${TAIL_ES}| (de|del) (la|su|esta|esa|sus|el) (lista|listas|base|sistema)( de (datos|contactos))?)`,
    `(bloque|olvid|suprim)(en?|an?|ar|ir) ${MINE_ES}`,
    `(la )?(eliminacion|supresion|cancelacion|exclusion|baja) de ${MINE_ES}${TAIL_ES}`,
    `ser (eliminad|borrad|excluid|retirad|removid)[oa]${TAIL_ES}`,
    `(salir|salirme|me salgo) (de (la|las|su|sus|esta|este|ese|esa) (lista|listas|servicio|base|grupo|canal|chat)|de aqui)${TAIL_ES}`,
    `(dejen?(me|nos)|deja(me|nos)|(me |nos )?dej(en?|an|ar)(me|nos)?) (ya )?(en paz|tranquil[oa]s?)${TAIL_ES}`,
    `(paren|para|corten|terminen|acaben|corta|termina|basta|suficiente|bajen|estuvo( bueno)?)(le|la|las)? (ya )?(con|de|a) ((el|la|los|las|su|sus|` +
      `tus|tantos?|estos|esos) )?(mensajes?|mensajitos|msjs?|whatsapps?|spam|promociones|publicidad|ofertas)${TAIL_ES}`,
    `(dejen?|deja|dejes|dejar|paren?|para|cesen|basta|absten(gan?se|erse|te)|corten?la|termin[ae]n?la) (ya )?de (seguir |estar |andar )?` +
      `(${TO_WRITE_ES}|${WRITING_ES}|${SENDING_ES}( ${SENT_ES})?|${TO_SEND_ES}( (${SENT_ES}|esto|eso|(estas |esas )?cosas))?)${TAIL_ES}`,
    `(paren?|para|corten?(la)?) (ya )?con (esto|eso)${TAIL_ES}`,
    `olvid(en|a|e)(me|(se|te) de (mi|mi numero|mis datos))${TAIL_ES}`,
    `me (desuscribo|desinscribo)${TAIL_ES}|me (borro|quito|elimino) de (la|su|esta|esa) lista${TAIL_ES}`,
    `${THREAT_ES} ${IF_AGAIN_ES}|${IF_AGAIN_ES} ${THREAT_ES}`,
    `eviten? (seguir )?(${TO_WRITE_ES}|${WRITING_ES}|${TO_SEND_ES} ${SENT_ES})${TAIL_ES}`,
    `(dejar|dejo) de recibir ${MESSAGES_ES}${TAIL_ES}|(dejar|dejo) de recibirlos`,
    `(cancel(ar|en?|o)|deten(er|gan?)|suspend(er|an?)|paren?|parar|alto|stop|basta|fin|(des|in)activar|(des|in)habilitar|bloquear|silenciar) ((a|de|con|el|los|las|la|sus|estos|esos) )*` +
      `(servicio de |envio de )?(mensajes|msjs?|notificaciones|publicidad|spam)${TAIL_ES}`,
    `(cancel(ar|en?|o)|anul(ar|en?|o)) (la |mi )?(suscripcion|inscripcion)${TAIL_ES}`,
    `(no|nunca|jamas) (quiero|deseo|quisiera|acepto|me interesa) (seguir )?(recibir|recibiendo)( ${MESSAGES_ES})?${TAIL_ES}`,
    `(no|nunca) (quiero|deseo|acepto) (?!nada$)${MESSAGES_ES}${TAIL_ES}|no recibir ${MESSAGES_ES}${TAIL_ES}`,
    `no (quiero|deseo|acepto|autorizo) ser (contactad|molestad|llamad|buscad)[oa]${TAIL_ES}`,
    `no (quiero|deseo|autorizo|permito|acepto|me interesa) (a )?que (ustedes )?(se )?${NO_MORE_ES}${TAIL_ES}`,
    `no autorizo (el |al )?(envio|recibo|recepcion) de ${MESSAGES_ES}${TAIL_ES}`,
    `no (quiero|deseo) saber (nada )?(mas )?de ustedes${TAIL_ES}`,
    `(no|nunca|jamas|ni) (mas )?${NO_MORE_ES}${TAIL_ES}`,
    `no ((me )?jodas mas|jodan|chinguen|frieguen|spameen)${TAIL_ES}|no usen (mas )?mi (numero|telefono|celular|whatsapp)`,
    `no mas ${MESSAGES_ES}${TAIL_ES}`,
    `(retir|revoc|quit|cancel)(o|ar) ${PERMISSION_ES}`,
    'me opongo al (uso|tratamiento) de mis datos( personales)?',
  ],
  pt: [
    `${REMOVE_PT} me${TAIL_PT}|me ${REMOVE_PT}${TAIL_PT}|me descadastrar`,
    `${REMOVE_PT} ${MINE_PT}(?! (da|do|de|no|na) (serasa|spc))${TAIL_PT}`,
    `bloque(ar|ie|iem) ${MINE_PT}`,
    `(a )?(exclusao|remocao|retirada) (d[oae]s? )${MINE_PT}${TAIL_PT}`,
    `ser (removid|excluid|retirad|apagad|descadastrad)[oa]s?${TAIL_PT}`,
    `sai(am)? do meu (whatsapp|zap|numero|celular)`,
    `(sair|saio) d(a|essa|esta) (sua )?(lista|base)( de (dados|contatos|transmissao))?`,
    `cancel(ar|em?|o|a) ((o|a|os|as|minha|meu|a minha|o meu) )?(cadastro|inscricao|assinatura)`,
    `(cancel(ar|em?|o)|par(ar|em?)|sem|chega|bloquear|desativar) ((o|a|os|as|de|com|o recebimento de|o envio de|as suas|mais) )*(mensagens|mensagem|msgs?)`,
    `(parem?|para|parar|chega|deixar|deixem?|deixa) (de|com) (ficar )?(me )?(${TO_WRITE_PT}( e (me )?${TO_SEND_PT}( ${SENT_PT})?)?|${TO_SEND_PT}( ${SENT_PT})?|(mandando|enviando)( ${SENT_PT})?|` +
      `isso|(essas|as|suas|tantas) (mensagens|msgs))${TAIL_PT}`,
    `(me (esquec[ae]m?|larga|larguem)|esquec[ae]m? ${MINE_PT})${TAIL_PT}|larg(a|uem?) do meu pe|(some|sai fora)( daqui)?`,
    `(me )?deix(a|em?|ar)( me| eu| a gente)? (em paz|quiet[oa]|sossegad[oa])${TAIL_PT}`,
    `(parar|deixar) de receber( ${MESSAGES_PT})?${TAIL_PT}`,
    `(nao|n) (quero|desejo|gostaria de|aceito) (mais )?receber( ${MESSAGES_PT})?${TAIL_PT}|(nao|n) receber (mais|${MESSAGES_PT})${TAIL_PT}`,
    `(nao|n) (quero|desejo) (?!nada$)((mais )?contatos?|${MESSAGES_PT})${TAIL_PT}`,
    `(nao|n) (quero|desejo|aceito|autorizo) (mais )?ser (contatad|incomodad|perturbad|procurad)[oa]${TAIL_PT}`,
    `(nao|n) (quero|desejo|autorizo) (mais )?que (voces )?${NO_MORE_PT}${TAIL_PT}`,
    `(nao|n|nunca) (mais )?${NO_MORE_PT}${TAIL_PT}`,
    `(nao|n) autorizo o envio de ${MESSAGES_PT}${TAIL_PT}`,
    `(nao|n) (entr(e|em) (mais )?|entra mais )em contato( comigo)?${TAIL_PT}`,
    '(revogo|retiro|cancelo|revogar|retir(ar|a|em?)) (o |a |meu |minha |o meu |a minha )?(consentimento|autorizacao|permissao)',
  ],
  en: [
    `(stop|quit) ((messaging|texting|txting|contacting|bothering|calling|spamming|writing|harassing)( to)?( me)?|sending( me)?( ${MESSAGES_EN})?)${TAIL_EN}`,
    `(stop|enough)( with| of)? ((the|these|your|all) )*(messages|texts|msgs|messaging|spam)${TAIL_EN}`,
    `no more (messages|texts|msgs|spam)${TAIL_EN}`,
    `(do not|don t|dont|never)( ever)? (message|text|txt|contact|write|call|bother|spam)( to)?( me| this number)?${TAIL_EN}`,
    `(do not|don t|dont|never) send( me)?( ${MESSAGES_EN})${TAIL_EN}`,
    `(do not|don t|dont|no longer) (want|wish)( to)? (receive|get|be contacted|be texted|be messaged|receiving)( ${MESSAGES_EN})?${TAIL_EN}`,
    `(do not|don t|dont|no longer) want ${MESSAGES_EN}${TAIL_EN}|stop (receiving|getting) ${MESSAGES_EN}${TAIL_EN}`,
    `(unsubscribe|opt ?out)( me)?${TAIL_EN}|opt me out${TAIL_EN}`,
    `(take|remove|delete) me${TAIL_EN}|(get|take) me (off|out of) (your|this|the|that) list${TAIL_EN}`,
    `(do not|don t|dont) want to hear from you${TAIL_EN}`,
    `(take|remove|delete|block|forget|lose) my ((phone )?number|(personal )?data|contact)( off| from)?${TAIL_EN}`,
    'leave me alone|go away|cut it out',
    `(withdraw|revoke|cancel) (my |the )?(consent|permission|authori[sz]ation)`,
  ],
};

/** Requests in so few words that nothing but courtesy may stand around them: "quiero cancelar" may be about a debt. */
export const ALONE: readonly string[] = [
  '((solicito|pido|quiero|deseo) )?(la |mi |de )?baja( (de|del) (la |su |esta |sus |el )?(lista|servicio|base de datos|sistema))?',
  'salir|parar?|paren|alto|detener|detengan?|detente|basta|(ya )?cort[ae]n?la|(ya )?paren?le|cancelar|cancelen|eliminar|borrar|remover|(quiero )?salirme',
  '(no|cero|nada de|sin) (mensajes|spam|publicidad)|(ja )?(pedi|falei|disse) (pra|para) parar',
  'retirar|quitar|revocar|revoco|(quiero|deseo) retirarme|me (quiero|deseo) retirar|(eliminen|borren|quiten|saquen|remuevan|retiren)',
  '(desuscribir|desinscribir)(me|se)?|(ya )?no mas|(ya )?no (quiero|deseo) mas|(ya )?no (quiero|deseo) recibir|no molestar',
  'sair|quero sair|pare|parem?|chega|cancelar?|cancelem|remover|remova|remove|excluir|exclua',
  'descadastr(ar|em|o)|descadastro|desinscrever|desinscreva|descadastramento|(quero )?me descadastrar',
  '(ja )?(nao|n) quero mai?s( nada| receber)?|(nao|n) (enviar|mandar) mais',
  'stop|stop ?all|quit|end|revoke|opt ?out|cancel|unsubscribe|remove|remove me|block me|stop it|arret',
];

/** More requests. As a question they ask for something else: "¿es spam?". */
export const STATEMENTS: readonly string[] = [
  '((esto|eso|este mensaje|isso|isto) )?((es|e) )?(un )?spam|(this|it) is spam|(it|that) s spam',
  '(los |les |te )?(report[oa]|reportad[oa]s?|denuncio|denunciad[oa]s?) (por|como) spam',
  '(yo )?no (los |les |lo |te )?(autorizo|autorice)( (esto|nada|mensajes?|estos mensajes|sus mensajes))?( mas)?( mensajes?)?',
  `no (autorizo|autorice) (recibir (mas )?(mensajes?|publicidad)|(el )?(contacto|uso de mis datos( personales)?|tratamiento de mis datos( personales)?))${TAIL_ES}`,
  `(yo )?no (les |le )?(di|he dado|doy) ${PERMISSION_ES}|(ustedes )?no tienen ${PERMISSION_ES}`,
  `(yo )?no (los |les |le )?(he )?autoriz(o|ado) (a )?(${TO_WRITE_ES}|${TO_SEND_ES}( ${MESSAGES_ES})?)${TAIL_ES}`,
  '(los|les) (voy a )?bloque(o|ar)',
  '(eu )?(nao|n) (autorizo|autorizei) (o |esse |este )?(contato|uso d[oe]s? meus dados( pessoais)?)',
  'ya no (quiero|deseo)( nada)?( mas)?',
];

/** Words of courtesy: they do not change the meaning of the words beside them. */
export const COURTESY =
  'por favor|x favor|porfavor|porfa|pf|pfv|please|pls|plz|plis|xfa|(muchas |mil )?gracias|grac|obrigad[oa]|por gentileza|thanks|' +
  'thank you|hola|buenas?( (dias|tardes|noches))?|buenos dias|ola|oi|bom dia|boa (tarde|noite)|hello|hi|' +
  'senor(es)?|senora|senhor(es)?|senhora|amig[oa]s?|ya|ja';
/** Words that refuse by themselves. They do not change a request beside them, but they do change a "yes". */
export const NO_INTEREST =
  'no me interesa( mas)?|no (estoy|soy) interesad[oa]|no gracias|nao me interessa( mais)?|nao tenho( mais)? interesse|' +
  'sem interesse|nao obrigad[oa]|not interested|no thanks?|no thank you';
/** Words that lead to an act and do not change what it asks for. */
export const LEADS_TO =
  '(yo |eu |i )?(quiero|quisiera|deseo|desearia|solicito|pido|exijo|necesito|requiero|me gustaria|quero|gostaria de|desejo|' +
  'preciso|want to|want|would like to|d like to|wish to)|(les?|te) (pido|solicito|ruego|agradezco|agradeceria)|agradezco|agradeceria|' +
  '(el )?favor( de)?( que)?|mejor|melhor|ya|ja|me|que|se|yo|eu|i|just|please|kindly|(pueden?|podrian?|podrias?|puedes|podem?|poderiam?|poderia|can you|could you)( por favor)?|' +
  '(prefiero|preferiria|prefiro)( que)?|(ustedes|uds|voces)|(cuantas veces )?(les )?(tengo|hay) que (decirles?|repetir(les)?|pedirles?)|(ya )?(les?|te) (he )?(dije|dicho|pedi|pedido|repito|digo)|' +
  '(ja )?(falei|pedi|disse|peco)( (pra|para)( voces)?)?|((haz|hagan?)(me)?|(me )?(hacen?|haces)) (el|un) favor (de|y)|(faz|facam?) o favor de|' +
  '(ten|tengan?) la (amabilidad|bondad) de|sea[ns]? tan amables? de|(tem|teria) (como|jeito de)|da (pra|para)|se puede|es posible|solo|so|' +
  'como|how|(le )?hago|puedo|hacer|faco|posso|do i|can i|para|pra|a partir de (hoy|ahora|agora)|desde (hoy|ahora)';

/**
 * Words beside an act that say why, or to whom. They do not change what the act asks for. They may change a single
 * word: "cancelar, ya no quiero el préstamo" withdraws an application.
 */
export const ASIDES =
  'che|loco|chao|adios|tchau|bye|guey|wey|parce|hermano|bro|caballeros?|joven|jovenes|mo[cz][oa]|cara|gente|pessoal|pues|pe|po|tio|huevon|weon|' +
  'senorit[ao]s?|no (me )?mam(en|es)|no se(an?|as) (tan )?(intens|pesad|molest|cansad)[oa]s?|oigan?|oye|miren?|vean?|ubiquen?se|disculpen?|perdon(en)?|desculpem?|(que )?pena( con ustedes)?|con (todo )?respeto|pero|es que|' +
  'en serio|de verdad|(por|pelo) (el )?amor (de dios|de deus)|por dios|carajo|de una (buena )?vez( por todas)?|(ahora|ya) mismo|' +
  'cuanto antes|lo antes posible|urgente|hoy mismo|gracias por todo|que (tengan?|pasen?) (un )?(buen|lindo|feliz|excelente) dia|bom|' +
  '(ya )?no (lo )?(quiero|necesito|deseo|me interesa|busco|estoy buscando) (el|la|un|una|ningun|ninguna|este|esta|ese|esa|su|sus|mas) ' +
  '(creditos?|prestamos?|ofertas?|propuestas?|servicios?)|ya (consegui|resolvi|(consegui|obtuve|tengo|resolvi)( (el|un|otro|con otro))* (credito|prestamo|banco))|' +
  'ya (pague|cancele)|(es |este es )?(un )?numero (equivocado|errado)|se equivocaron( de (numero|persona))?|no soy (esa persona|quien buscan)|' +
  'no (los|les) conozco|no se quienes son( ustedes)?|no soy cliente( de ustedes| suyo)?|no (tengo|debo) (nada|(ninguna )?deudas?)( con ustedes)?|' +
  '(ya )?(estoy|me tienen) (hart|cansad|mamad|aburrid)[oa]( de (ustedes|(sus|los|tantos?) mensajes?))?|que (fastidio|molestia|pereza|pesad[oa]s?|intens[oa]s?|lata|jartera|cansones)|' +
  '(ya )?(es )?((la|por) )?(ultima|segunda|tercera) vez( que (se )?lo (pido|digo))?|voy a bloquear este numero|(los|les) (voy a )?(reportar|denunciar|bloquear)|cambie de opinion|' +
  '(ja|eu|nao|n|quero|preciso|mais|o|do|desse|nenhum)( (ja|eu|nao|n|quero|preciso|mais|o|do|desse|nenhum))* (emprestimo|credito|oferta)|' +
  'nao conheco voces|nao sei quem (sao )?voces( sao)?|nao sou (essa pessoa|cliente)|ja (paguei|consegui)|que saco|vou (bloquear|denunciar)';
