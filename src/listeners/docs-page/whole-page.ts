/** The documentation page: its frame and the order of its sections. */

import { LANGUAGES } from '../../ground/base/language.ts';
import { API_VERSION } from '../../wire/contract/changes.ts';
import { errors } from './errors.ts';
import { events } from './events.ts';
import { html } from './html.ts';
import { changes, quota, retries, tools } from './operations.ts';
import { type Docs, inLanguage } from './parts.ts';
import { answers, fieldTable, legacyNames, scoring } from './reference.ts';
import { start } from './start.ts';
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
