/** The documentation's form that reads events or one application from here. */

import { answerBox, formButtons, keyField, unreachableText } from './form-parts.ts';
import { type Html, html } from './html.ts';
import { type Docs, inLanguage } from './parts.ts';

/** The form. It needs JavaScript, and stays hidden without it. */
export function readForm(docs: Docs): Html {
  const { basePath } = docs;
  return html`
    <form id="read-form" class="try" hidden autocomplete="off" data-base="${basePath}"
      data-sending="${inLanguage(docs, 'Reading…', 'Leyendo…')}"
      data-invalid="${inLanguage(docs, 'The path begins with /PRO/events or /PRO/applications/.', 'La ruta empieza por /PRO/events o /PRO/applications/.')}"
      data-next="${inLanguage(docs, 'The path now leads to the next page.', 'La ruta lleva ahora a la página siguiente.')}"
      data-unreachable="${unreachableText(docs)}">
      <h3>${inLanguage(docs, 'Read from here', 'Lee desde aquí')}</h3>
      ${keyField(
        docs,
        'read',
        'PRO',
        inLanguage(
          docs,
          'For a look only: the key stays in this page’s memory and goes nowhere but to this service. Your programs keep their key on a server.',
          'Solo para consultar: la clave se queda en la memoria de esta página y solo se envía a este servicio. Tus programas guardan la suya en un servidor.',
        ),
      )}
      <label for="read-path">${inLanguage(docs, 'The path: events, or one application', 'La ruta: eventos o una solicitud')}</label>
      <input id="read-path" type="text" required spellcheck="false" autocapitalize="off" autocomplete="off"
        value="/PRO/events?limit=5" aria-describedby="read-path-note">
      <p id="read-path-note" class="quiet">${inLanguage(
        docs,
        html`<code>/PRO/applications/346</code> reads the application with the id 346.`,
        html`<code>/PRO/applications/346</code> lee la solicitud con el id 346.`,
      )}</p>
      ${formButtons(docs, inLanguage(docs, 'Read', 'Leer'))}
      ${answerBox(inLanguage(docs, 'What was read', 'Lo que se leyó'))}
    </form>`;
}
