/**
 * The whole page `/docs`: its frame, the order of its sections, and the sections about errors, the sandbox and the
 * start. Pure. `wire/contract/catalogue.ts` and `domain/application/sandbox.ts` have the rules.
 */
import { SANDBOX_SCENARIOS } from '../../domain/application/sandbox.ts';
import { type Content, html, inline } from '../../ground/base/html.ts';
import { LANGUAGES, type Words } from '../../ground/base/language.ts';
import { faultCatalogue } from '../../wire/contract/catalogue.ts';
import { API_VERSION } from '../../wire/contract/changes.ts';
import { batchExamples } from '../../wire/contract/examples.ts';
import { NAMES } from '../../wire/contract/response.ts';
import {
  MAX_APPLICATIONS,
  REFUSAL_TEXTS,
  REQUEST_PROBLEMS,
  requestStatus,
  requestText,
} from '../../wire/contract/texts.ts';
import { events } from './events.ts';
import { answerBox, formButtons, keyField, unreachableText } from './form-parts.ts';
import {
  address,
  code,
  codes,
  type Docs,
  foldedTable,
  inLanguage,
  json,
  type Section,
  table,
} from './parts.ts';
import { answers, changes, fieldTable, legacyNames, quota, retries, scoring, tools } from './reference.ts';

// The documentation's error catalogue: every error text of the interface, in both languages.

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
function errors(docs: Docs): Section {
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

// The documentation's sandbox: the phones that force an outcome, and a form that sends a batch to `/DEV`.

/** Every reserved phone (D38), and the form. Without JavaScript the page shows a note instead of the form. */
function tryIt(docs: Docs): Section {
  const { language, fields, basePath } = docs;
  const [first] = batchExamples(fields, 'DEV', language);
  const rows = SANDBOX_SCENARIOS.map(({ phone, description }) => [
    html`<code class="scenario" data-phone="${phone}">${phone}</code>`,
    inline(description[language]),
  ]);
  const body = html`
    ${inLanguage(
      docs,
      html`<p>On <code>/DEV</code> these phones force an outcome on an application that is valid otherwise, so that you can rehearse each one. Any other phone is an ordinary one: nothing is a duplicate and no quota is used. <code>/PRO</code> refuses every phone that begins with <code>+990</code>.</p>`,
      html`<p>En <code>/DEV</code> estos teléfonos fuerzan un resultado en una solicitud que por lo demás es válida, para que ensayes cada uno. Cualquier otro teléfono es normal: nada es duplicado y no se gasta cuota. <code>/PRO</code> rechaza todo teléfono que empiece por <code>+990</code>.</p>`,
    )}
    ${table(
      inLanguage(docs, 'Phones of the sandbox', 'Teléfonos de prueba'),
      [inLanguage(docs, 'Phone', 'Teléfono'), inLanguage(docs, 'What comes of it', 'Qué resulta')],
      rows,
    )}
    <p id="try-script" class="note">${inLanguage(
      docs,
      'The form that sends a batch from here needs JavaScript. Without it, use the curl command above.',
      'El formulario que envía un lote desde aquí necesita JavaScript. Sin él, usa el comando curl de arriba.',
    )}</p>
    <form id="try-form" class="try" hidden autocomplete="off" data-url="${basePath}/DEV"
      data-sending="${inLanguage(docs, 'Sending…', 'Enviando…')}"
      data-invalid="${inLanguage(docs, 'This is not valid JSON yet: ', 'Esto aún no es JSON válido: ')}"
      data-unreachable="${unreachableText(docs)}"
      data-use="${inLanguage(docs, 'Use this phone', 'Usar este teléfono')}"
      data-used="${inLanguage(docs, 'is in the batch now. Press Send.', 'ya está en el lote. Pulsa Enviar.')}">
      <h3>${inLanguage(docs, 'Send a batch', 'Envía un lote')}</h3>
      ${keyField(
        docs,
        'try',
        'DEV',
        inLanguage(
          docs,
          'The key stays in this page’s memory and goes nowhere but to this service.',
          'La clave se queda en la memoria de esta página y solo se envía a este servicio.',
        ),
      )}
      <label for="try-batch">${inLanguage(docs, 'The batch', 'El lote')}</label>
      <textarea id="try-batch" rows="18" spellcheck="false" autocapitalize="off" autocomplete="off">${JSON.stringify(first.request, null, 2)}</textarea>
      ${formButtons(docs, inLanguage(docs, 'Send to /DEV', 'Enviar a /DEV'))}
      ${answerBox(inLanguage(docs, 'Answer', 'Respuesta'))}
    </form>`;
  return { id: 'try', title: inLanguage(docs, 'Try it in the sandbox', 'Pruébalo en /DEV'), body };
}

const SECTIONS = [
  start,
  tryIt,
  fieldTable,
  scoring,
  answers,
  errors,
  quota,
  retries,
  events,
  legacyNames,
  tools,
  changes,
];

const LANGUAGE_NAMES = { en: 'English', es: 'Español' };

/** The whole page as HTML. The page loads only files below its own address. */
export function renderDocs(docs: Docs): string {
  const { language, basePath, hasSimulator } = docs;
  const sections = SECTIONS.map((section) => section(docs));
  const title = inLanguage(docs, 'Ventanilla API documentation', 'Documentación de la API de Ventanilla');
  const page = html`<!doctype html>
<html lang="${language}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title}</title>
    <link rel="icon" href="${basePath}/docs/icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="${basePath}/docs/page.css">
    <script type="module" src="${basePath}/docs/page.js"></script>
    <script type="module" src="${basePath}/docs/filter.js"></script>
  </head>
  <body data-copy="${inLanguage(docs, 'Copy', 'Copiar')}" data-copied="${inLanguage(docs, 'Copied', 'Copiado')}">
    <a class="skip" href="#content">${inLanguage(docs, 'Skip to the content', 'Ir al contenido')}</a>
    <header class="bar">
      <p class="brand"><img src="${basePath}/docs/icon.svg" alt="" width="28" height="28">Ventanilla</p>
      <nav class="languages" aria-label="${inLanguage(docs, 'Language', 'Idioma')}">${LANGUAGES.map(
        (other) => {
          const current = other === language ? html` aria-current="true"` : '';
          return html`<a href="?lang=${other}" lang="${other}" hreflang="${other}"${current}>${LANGUAGE_NAMES[other]}</a>`;
        },
      )}</nav>
    </header>
    <div class="columns">
      <nav class="contents" aria-label="${inLanguage(docs, 'Contents', 'Contenido')}">
        <div id="finder" hidden>
        <label for="filter">${inLanguage(docs, 'Find in the tables', 'Buscar en las tablas')}</label>
        <input id="filter" type="search" maxlength="64" autocomplete="off" placeholder="${inLanguage(docs, 'field, code or error', 'campo, código o error')}">
        <p id="filter-note" class="quiet" role="status" data-rows="${inLanguage(docs, 'rows', 'filas')}" data-none="${inLanguage(docs, 'No row has this text.', 'Ninguna fila tiene este texto.')}"></p>
        </div>
        <ul>${sections.map(({ id, title: text }) => html`<li><a href="#${id}">${text}</a></li>`)}</ul>
      </nav>
      <main id="content">
        <h1>${inLanguage(docs, 'Partner API', 'API para aliados')}</h1>
        <p class="lead">${inLanguage(
          docs,
          'Send credit applications by the batch. Each one is checked, scored and decided at once, and you read its outcome in the answer.',
          'Envía solicitudes de crédito por lotes. Cada una se valida, se puntúa y se decide de inmediato, y lees su resultado en la respuesta.',
        )}</p>
        <p class="quiet">${inLanguage(docs, 'Version', 'Versión')} ${API_VERSION} · <a href="${basePath}/openapi.json">OpenAPI 3.1</a>${hasSimulator ? html` · <a href="${basePath}/docs/simulator">${inLanguage(docs, 'Simulator', 'Simulador')}</a>` : ''}</p>
        ${sections.map(
          ({ id, title: text, body }) => html`<section id="${id}" aria-labelledby="${id}-title">
          <h2 id="${id}-title"><a href="#${id}">${text}</a></h2>
          ${body}
        </section>`,
        )}
      </main>
    </div>
  </body>
</html>
`;
  return page.text;
}

// The documentation's first section: a key, the first batch, and how to read its answer.

/** Four steps: a key, a batch on `/DEV`, how to read the answer, `/PRO`. */
function start(docs: Docs): Section {
  const { language, fields } = docs;
  const [first] = batchExamples(fields, 'DEV', language);
  const names = NAMES[language];
  const body = html`
    <h3>${inLanguage(docs, '1. Your key', '1. Tu clave')}</h3>
    ${inLanguage(
      docs,
      html`<p>We give you a key per environment, or one for both. It goes in the header <code>X-API-Key</code> of every request. Keep it on your server, out of code and out of browsers; if it leaks, tell us and it stops working at once.</p>`,
      html`<p>Te damos una clave por ambiente, o una para ambos. Va en el encabezado <code>X-API-Key</code> de cada petición. Guárdala en tu servidor, fuera del código y de los navegadores; si se filtra, avísanos y deja de servir de inmediato.</p>`,
    )}
    ${table(
      inLanguage(docs, 'Environments', 'Ambientes'),
      [inLanguage(docs, 'Address', 'Dirección'), inLanguage(docs, 'What it does', 'Qué hace')],
      [
        [
          html`<code>${docs.basePath}/DEV</code>`,
          inLanguage(
            docs,
            'Sandbox: checks and scores like production, but stores nothing, sends nothing and uses no quota. Send the same data as often as you like.',
            'Pruebas: valida y puntúa como producción, pero no guarda nada, no envía nada y no gasta cuota. Envía los mismos datos cuantas veces quieras.',
          ),
        ],
        [
          html`<code>${docs.basePath}/PRO</code>`,
          inLanguage(
            docs,
            'Production: registers applications, writes to applicants who agreed, and uses quota.',
            'Producción: registra solicitudes, escribe a quienes aceptaron y gasta cuota.',
          ),
        ],
      ],
    )}
    <h3>${inLanguage(docs, '2. Your first batch', '2. Tu primer lote')}</h3>
    <p>${inLanguage(
      docs,
      `A batch is a list of 1 to ${MAX_APPLICATIONS} applications. Put your key in and paste this into a terminal:`,
      `Un lote es una lista de 1 a ${MAX_APPLICATIONS} solicitudes. Pon tu clave y pega esto en una terminal:`,
    )}</p>
    ${code(
      'curl',
      html`export VENTANILLA_API_KEY='vtn_…'

curl -sS ${address(docs, '/DEV')} \\
  -H "X-API-Key: $VENTANILLA_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${json(first.request)}'`,
    )}
    ${code(inLanguage(docs, 'Answer', 'Respuesta'), json(first.answer))}
    <h3>${inLanguage(docs, '3. Read the answer per application', '3. Lee la respuesta solicitud por solicitud')}</h3>
    ${inLanguage(
      docs,
      html`<p>A code 200 says that the batch was processed, not that every application got in. Each one you sent is in exactly one of two lists, in the order you sent them:</p>`,
      html`<p>El código 200 dice que el lote se procesó, no que todas las solicitudes entraron. Cada una está en exactamente una de dos listas, en el orden en que las enviaste:</p>`,
    )}
    <ul>
      <li>${inLanguage(
        docs,
        html`<code>${names.results}</code>: registered. It has a score, a decision and a status.`,
        html`<code>${names.results}</code>: registrada. Trae puntaje, decisión y estado.`,
      )}</li>
      <li>${inLanguage(
        docs,
        html`<code>${names.errors_detail}</code>: not registered, with the reason. Correct it and send it again.`,
        html`<code>${names.errors_detail}</code>: no registrada, con el motivo. Corrígela y vuelve a enviarla.`,
      )}</li>
    </ul>
    <h3>${inLanguage(docs, '4. Go to production', '4. Pasa a producción')}</h3>
    ${inLanguage(
      docs,
      html`<p>Change <code>/DEV</code> to <code>/PRO</code>, use your production key, and add an <a href="#retries"><code>Idempotency-Key</code></a>. Nothing else changes. Before that, meet every outcome in the <a href="#try">sandbox</a>.</p>`,
      html`<p>Cambia <code>/DEV</code> por <code>/PRO</code>, usa tu clave de producción y agrega un <a href="#retries"><code>Idempotency-Key</code></a>. Nada más cambia. Antes, conoce todos los resultados en el <a href="#try">ambiente de pruebas</a>.</p>`,
    )}`;
  return { id: 'start', title: inLanguage(docs, 'Getting started', 'Primeros pasos'), body };
}
