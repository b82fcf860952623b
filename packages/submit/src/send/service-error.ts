/** The errors of the partners' client, as the command line tells them from its own. */
import { VentanillaError } from '../../../../client/src/errors.ts';
import { describeError } from '../../../../src/ground/base/describe-error.ts';
import type { Language } from '../../../../src/ground/base/language.ts';
import { ToldError } from '../../../../src/ground/base/told-error.ts';

/** The texts of the client in Spanish. Of other texts the client's own English stands. */
const IN_SPANISH: readonly (readonly [english: RegExp, spanish: string])[] = [
  [/^the service refused the API key: /, 'el servicio rechazó la API key: '],
  [/^the service refused the request: /, 'el servicio rechazó la solicitud: '],
  [/^the service cannot answer now: /, 'el servicio no puede responder ahora: '],
  [/^the service answered (\d+), not 200/, 'el servicio respondió $1, no 200'],
  [/^no answer within (\d+) ms/, 'no hubo respuesta en $1 ms'],
  [/^no answer(?= \(|$)/, 'no hubo respuesta'],
  [/^the URL redirects: .*/, 'la URL redirige a otra: usa esa otra en --url'],
  [/^the answer is not JSON: .*/, 'la respuesta no es JSON: ¿es esta la URL del servicio?'],
  [
    /^the answer is longer than (\d+) .*/,
    'la respuesta tiene más de $1 bytes: ¿es esta la URL del servicio?',
  ],
];

/** The text of the client's error. */
export function textOfClient(message: string, language: Language): string {
  const found = language === 'es' ? IN_SPANISH.find(([english]) => english.test(message)) : undefined;
  return found === undefined ? message : message.replace(found[0], found[1]);
}

/**
 * Resolves as `work` does. Throws `ToldError` where the service refused the request, did not answer, or could not be
 * reached: then neither the command nor the program is wrong.
 */
export async function tellingOfService<T>(work: Promise<T>, language: Language): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof VentanillaError)) throw error;
    throw new ToldError(textOfClient(describeError(error), language), { cause: error });
  }
}
