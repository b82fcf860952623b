/** Texts that an operator sends often, in the languages of applicants. The operator reads them before they go out. */
import type { Language } from '../../../src/domain/conversation/flow.ts';

export const CANNED = {
  es: {
    hello: 'Hola, soy una persona del equipo. ¿En qué te puedo ayudar?',
    wait: 'Lo estoy revisando. Te escribo en unos minutos.',
    files: 'Por favor envía aquí el archivo que falta, en PDF o como foto legible.',
    on: 'Listo. Seguimos con tu solicitud aquí mismo.',
  },
  pt: {
    hello: 'Olá, sou uma pessoa da equipe. Como posso ajudar?',
    wait: 'Estou verificando. Escrevo em alguns minutos.',
    files: 'Por favor, envie aqui o arquivo que falta, em PDF ou como foto legível.',
    on: 'Pronto. Continuamos com a sua solicitação aqui mesmo.',
  },
  en: {
    hello: 'Hello, I am a person of the team. How can I help you?',
    wait: 'I am looking into it. I will write to you in a few minutes.',
    files: 'Please send the missing file here, as a PDF or a readable photo.',
    on: 'Done. We go on with your application right here.',
  },
} as const satisfies Readonly<Record<Language, Readonly<Record<string, string>>>>;

export type Canned = keyof (typeof CANNED)['es'];
export const CANNED_NAMES = ['hello', 'wait', 'files', 'on'] as const satisfies readonly Canned[];
