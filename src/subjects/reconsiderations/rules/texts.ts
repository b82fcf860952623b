/**
 * What somebody reads who was refused and writes, asks for a review, or asks for the data (D50;
 * docs/reconsiderations.md). The texts are the same for every brand: they state rights. Pure.
 */
import type { Language } from '../../../domain/conversation/flow.ts';

interface Texts {
  /** {reasons}: a line each. */
  readonly reasons: string;
  /** A person refused the application, and no reason has words. */
  readonly without_reasons: string;
  readonly review_asked: string;
  readonly data_asked: string;
  readonly confirmed: string;
  readonly apply_again: string;
  readonly answered: string;
  /** The title of the button that asks for a review; 20 characters at most. */
  readonly button: string;
}

export const TEXTS: Readonly<Record<Language, Texts>> = {
  es: {
    reasons:
      'Por ahora no pudimos aprobar tu solicitud con {partner}. Estos son los motivos:\n\n{reasons}\n\n' +
      'Si crees que hay un error, puedes pedir que una persona la revise: toca el botón o escribe REVISIÓN.',
    without_reasons:
      'Una persona de nuestro equipo revisó tu solicitud con {partner} y por ahora no pudimos aprobarla.\n\n' +
      'Si crees que hay un error, puedes pedir otra revisión: toca el botón o escribe REVISIÓN.',
    review_asked:
      'Recibimos tu pedido: una persona va a revisar tu solicitud con {partner}. Tendrás una respuesta a más tardar ' +
      'el {date}. Si para entonces no te hemos escrito, escríbenos por aquí y te la damos. Si quieres contarnos algo ' +
      'más, escríbelo en este chat.',
    data_asked:
      'Tienes derecho a saber qué datos tuyos guardamos, a recibir una copia y a pedir que los corrijamos o los ' +
      'borremos. Recibimos tu pedido: una persona va a comprobar que eres tú y te dirá cómo entregarte los datos a más ' +
      'tardar el {date}. Si para entonces no te hemos escrito, escríbenos por aquí.',
    confirmed: 'Una persona revisó tu solicitud con {partner} y mantuvo la decisión. El motivo:\n\n{answer}',
    apply_again:
      'Una persona revisó tu solicitud con {partner}. Puedes presentar una nueva solicitud con {partner}:\n\n{answer}',
    answered: 'Sobre los datos tuyos que guardamos:\n\n{answer}',
    button: 'Pedir revisión',
  },
  pt: {
    reasons:
      'Por enquanto não pudemos aprovar o seu pedido com {partner}. Estes são os motivos:\n\n{reasons}\n\n' +
      'Se você acha que há um erro, pode pedir que uma pessoa o analise: toque no botão ou escreva REVISÃO.',
    without_reasons:
      'Uma pessoa da nossa equipe analisou o seu pedido com {partner} e por enquanto não pudemos aprová-lo.\n\n' +
      'Se você acha que há um erro, pode pedir outra análise: toque no botão ou escreva REVISÃO.',
    review_asked:
      'Recebemos a sua solicitação: uma pessoa vai analisar o seu pedido com {partner}. Você terá uma resposta até ' +
      '{date}. Se até lá não tivermos escrito, escreva para nós por aqui e damos a resposta. Se quiser contar mais ' +
      'alguma coisa, escreva nesta conversa.',
    data_asked:
      'Você tem o direito de saber quais dados seus guardamos, de receber uma cópia e de pedir que os corrijamos ou ' +
      'apaguemos. Recebemos a sua solicitação: uma pessoa vai confirmar que é você e dirá como entregar os dados até ' +
      '{date}. Se até lá não tivermos escrito, escreva para nós por aqui.',
    confirmed: 'Uma pessoa analisou o seu pedido com {partner} e manteve a decisão. O motivo:\n\n{answer}',
    apply_again:
      'Uma pessoa analisou o seu pedido com {partner}. Você pode fazer um novo pedido com {partner}:\n\n{answer}',
    answered: 'Sobre os dados seus que guardamos:\n\n{answer}',
    button: 'Pedir revisão',
  },
  en: {
    reasons:
      'For now we could not approve your application with {partner}. These are the reasons:\n\n{reasons}\n\n' +
      'If you think that there is a mistake, you may ask for a review by a person: tap the button or write REVIEW.',
    without_reasons:
      'A person of our team reviewed your application with {partner}, and for now we could not approve it.\n\n' +
      'If you think that there is a mistake, you may ask for another review: tap the button or write REVIEW.',
    review_asked:
      'We have your request: a person will review your application with {partner}. You will have an answer by {date} ' +
      'at the latest. If we have not written by then, write to us here and you get it. If you want to tell us more, ' +
      'write it in this chat.',
    data_asked:
      'You have the right to know which data we store about you, to get a copy, and to ask that we correct or erase ' +
      'it. We have your request: a person will make sure that it is you, and will tell you how you get the data by ' +
      '{date} at the latest. If we have not written by then, write to us here.',
    confirmed:
      'A person reviewed your application with {partner}, and the decision stands. The reason:\n\n{answer}',
    apply_again:
      'A person reviewed your application with {partner}. You may apply again with {partner}:\n\n{answer}',
    answered: 'About the data that we store about you:\n\n{answer}',
    button: 'Ask for a review',
  },
};

/** A text with its values; a value is never read as a text with values. */
export function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{([a-z]+)\}/g, (whole, name: string) => values[name] ?? whole);
}
