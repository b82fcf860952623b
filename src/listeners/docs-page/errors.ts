/** The documentation's error catalogue: every error text of the interface, in both languages. */

import type { Words } from '../../ground/base/language.ts';
import { faultCatalogue } from '../../wire/contract/catalogue.ts';
import { NAMES } from '../../wire/contract/response.ts';
import { REFUSAL_TEXTS, REQUEST_PROBLEMS, requestStatus, requestText } from '../../wire/contract/texts.ts';
import { type Content, html, inline } from './html.ts';
import { codes, type Docs, foldedTable, inLanguage, type Section, table } from './parts.ts';

/** The client's action for each HTTP code except 200. */
const ADVICE: Readonly<Record<number, Words>> = {
  400: {
    en: 'Nothing was registered. Correct the request; the same one fails again.',
    es: 'No se registró nada. Corrige la petición; la misma vuelve a fallar.',
  },
  401: {
    en: 'Look at the key: is it whole, is it for this environment, was it revoked?',
    es: 'Revisa la clave: ¿está completa, es de este ambiente, fue revocada?',
  },
  404: {
    en: 'Look at the address: `/PRO` and `/DEV` are upper case. Of `/PRO/applications/…` it says that the application is not yours.',
    es: 'Revisa la dirección: `/PRO` y `/DEV` van en mayúsculas. En `/PRO/applications/…` dice que la solicitud no es tuya.',
  },
  405: { en: 'Send a method that `Allow` names.', es: 'Usa un método de los que nombra `Allow`.' },
  410: {
    en: 'Read the events from the beginning, without `after`: the events after this cursor are no longer kept.',
    es: 'Lee los eventos desde el principio, sin `after`: los posteriores a este cursor ya no se conservan.',
  },
  413: { en: 'Send fewer applications at once.', es: 'Envía menos solicitudes a la vez.' },
  500: {
    en: 'Nothing was stored. Send the same batch again after a moment, or after `Retry-After` seconds where it is there.',
    es: 'No se guardó nada. Envía el mismo lote otra vez en un momento, o tras los segundos de `Retry-After` si viene.',
  },
};

/** The HTTP codes with the client's action, then every text of a failed request and of a refused application. */
export function errors(docs: Docs): Section {
  const { language, fields } = docs;
  const byStatus = Map.groupBy(REQUEST_PROBLEMS, requestStatus);
  const statuses = [...byStatus].toSorted(([left], [right]) => left - right);
  const codesTable = [
    [
      html`<code>200</code>`,
      inLanguage(
        docs,
        html`The batch was processed. Look at <code>${NAMES[language].errors_detail}</code> for what was not registered.`,
        html`El lote se procesó. Mira <code>${NAMES[language].errors_detail}</code> para ver qué no se registró.`,
      ),
    ],
    ...statuses.map(([status]) => [html`<code>${status}</code>`, inline(ADVICE[status]?.[language] ?? '')]),
  ];
  const both = (texts: Words): Content[] => [
    html`<span lang="en">${texts.en}</span>`,
    html`<span lang="es">${texts.es}</span>`,
  ];
  const ofRequests = statuses.flatMap(([status, problems]) =>
    problems.map((problem) => [
      html`<code>${status}</code>`,
      ...both({ en: requestText(problem, 'en'), es: requestText(problem, 'es') }),
    ]),
  );
  const refusals: [Words, Words][] = [
    [{ en: 'duplicate', es: 'duplicada' }, REFUSAL_TEXTS.duplicate],
    [{ en: 'quota', es: 'cuota' }, REFUSAL_TEXTS.over_quota],
    [{ en: 'not an object', es: 'no es un objeto' }, REFUSAL_TEXTS.not_an_object],
  ];
  const ofApplications = [
    ...refusals.map(([what, texts]) => [what[language], ...both(texts)]),
    ...faultCatalogue(fields).map(({ field, texts }) => [html`<code>${field.name}</code>`, ...both(texts)]),
  ];
  const texts = ['English', 'Español'];
  const body = html`
    <h3>${inLanguage(docs, 'HTTP codes', 'Códigos HTTP')}</h3>
    <p>${inLanguage(
      docs,
      html`With any code but 200 the body is <code>{ "error": "…" }</code> and nothing was registered.`,
      html`Con cualquier código distinto de 200 el cuerpo es <code>{ "error": "…" }</code> y no se registró nada.`,
    )}</p>
    ${table(
      inLanguage(docs, 'What to do with each code', 'Qué hacer con cada código'),
      [inLanguage(docs, 'Code', 'Código'), inLanguage(docs, 'What to do', 'Qué hacer')],
      codesTable,
    )}
    ${foldedTable(
      inLanguage(docs, 'What a failed request says', 'Qué dice una petición fallida'),
      [inLanguage(docs, 'Code', 'Código'), ...texts],
      ofRequests,
    )}
    <h3>${inLanguage(docs, 'Errors of one application', 'Errores de una solicitud')}</h3>
    ${inLanguage(
      docs,
      html`<p>They come with code 200, as the <code>error</code> of an entry. Everything that is wrong with an application is told at once, joined by <code>; </code>, and each field is named as you sent it. The quota's entry also has ${codes([NAMES.en.remaining, NAMES.en.daily_cap])} (in Spanish ${codes([NAMES.es.remaining, NAMES.es.daily_cap])}).</p>`,
      html`<p>Vienen con código 200, en el <code>error</code> de una entrada. Todo lo que está mal en una solicitud se dice de una vez, unido por <code>; </code>, y cada campo se nombra como lo enviaste. La entrada de cuota trae además ${codes([NAMES.es.remaining, NAMES.es.daily_cap])} (en inglés ${codes([NAMES.en.remaining, NAMES.en.daily_cap])}).</p>`,
    )}
    ${foldedTable(
      inLanguage(docs, 'What the error of an application says', 'Qué dice el error de una solicitud'),
      [inLanguage(docs, 'About', 'Sobre'), ...texts],
      ofApplications,
    )}`;
  return { id: 'errors', title: inLanguage(docs, 'Errors', 'Errores'), body };
}
