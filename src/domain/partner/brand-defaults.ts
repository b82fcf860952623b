/**
 * The default messages of a key, in the names of the partner and Ventanilla, in Spanish and Portuguese. `approved` and
 * `offer` carry the debt balance and the "I am interested" button; `rejected` and `reminder` have neither (D31). Each
 * message ends with the word that stops further messages.
 */
import type { ByLanguage, ByType, Placeholder } from './brand-parts.ts';

export const DEFAULT_TEXTS: ByType<ByLanguage<string>> = {
  approved: {
    es:
      'Hola, {name}: {partner} y Ventanilla aprobaron tu solicitud para unificar tu deuda de {debt}. ' +
      'Toca el botón y seguimos en este chat. Para no recibir más mensajes, responde BAJA.',
    pt:
      'Olá, {name}: {partner} e Ventanilla aprovaram o seu pedido para unificar a sua dívida de {debt}. ' +
      'Toque no botão e continuamos nesta conversa. Para não receber mais mensagens, responda PARAR.',
  },
  offer: {
    es:
      'Hola, {name}: {partner} y Ventanilla pueden ayudarte a unificar tu deuda de {debt}. Tu solicitud está ' +
      'en revisión: toca el botón si te interesa y seguimos en este chat. Para no recibir más mensajes, ' +
      'responde BAJA.',
    pt:
      'Olá, {name}: {partner} e Ventanilla podem ajudar você a unificar a sua dívida de {debt}. O seu pedido ' +
      'está em análise: toque no botão se tiver interesse e continuamos nesta conversa. Para não receber mais ' +
      'mensagens, responda PARAR.',
  },
  rejected: {
    es:
      'Hola, {name}: gracias por tu solicitud con {partner} y Ventanilla. Por ahora no podemos aprobarla. ' +
      'Para no recibir más mensajes, responde BAJA.',
    pt:
      'Olá, {name}: agradecemos o seu pedido com {partner} e Ventanilla. Por enquanto não podemos aprová-lo. ' +
      'Para não receber mais mensagens, responda PARAR.',
  },
  reminder: {
    es:
      'Hola, {name}: tu solicitud con {partner} y Ventanilla sigue abierta. Responde a este mensaje y ' +
      'continuamos donde quedamos. Para no recibir más mensajes, responde BAJA.',
    pt:
      'Olá, {name}: o seu pedido com {partner} e Ventanilla continua aberto. Responda a esta mensagem e ' +
      'continuamos de onde paramos. Para não receber mais mensagens, responda PARAR.',
  },
};

const INTERESTED: ByLanguage<readonly string[]> = { es: ['Me interesa'], pt: ['Tenho interesse'] };

export const DEFAULT_BUTTONS: ByType<ByLanguage<readonly string[]>> = {
  approved: INTERESTED,
  offer: INTERESTED,
  rejected: { es: [], pt: [] },
  reminder: { es: [], pt: [] },
};

/** The channel has no code for Portuguese alone, only pt_BR and pt_PT. */
export const DEFAULT_TEMPLATE_LANGUAGES: ByLanguage<string> = { es: 'es', pt: 'pt_BR' };

/** The placeholders of each default text, in the order of the template's parameters. */
export const DEFAULT_PARAMETERS: ByType<readonly Placeholder[]> = {
  approved: ['name', 'partner', 'debt'],
  offer: ['name', 'partner', 'debt'],
  rejected: ['name', 'partner'],
  reminder: ['name', 'partner'],
};
