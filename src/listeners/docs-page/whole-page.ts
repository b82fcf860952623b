/** The documentation page: its frame and the order of its sections. */
import { LANGUAGES } from '../../ground/base/language.ts';
import { API_VERSION } from '../../wire/contract/changes.ts';
import { batchExamples } from '../../wire/contract/examples.ts';
import { NAMES } from '../../wire/contract/response.ts';
import { MAX_APPLICATIONS } from '../../wire/contract/texts.ts';
import { errors } from './errors.ts';
import { events } from './events.ts';
import { html } from './html.ts';
import { changes, quota, retries, tools } from './operations.ts';
import { address, code, type Docs, inLanguage, json, type Section, table } from './parts.ts';
import { answers, fieldTable, legacyNames, scoring } from './reference.ts';
import { tryIt } from './try-it.ts';

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
