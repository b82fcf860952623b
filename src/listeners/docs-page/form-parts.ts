/** What the forms of `/docs` share. Pure; the page's script (`page/page.js`) does the work of the forms. */
import type { Environment } from '../../domain/partner/credential.ts';
import { type Html, html } from '../../ground/base/html.ts';
import { type Docs, inLanguage } from './parts.ts';

/** The text that the page shows if a request gets no answer, for the attribute `data-unreachable`. */
export function unreachableText(docs: Docs): string {
  return inLanguage(
    docs,
    'No answer came. Is the service up, and are you online?',
    'No llegó respuesta. ¿Está en marcha el servicio y tienes conexión?',
  );
}

/** The field for an API key, which the browser does not store. The ids in it begin with `form`. */
export function keyField(docs: Docs, form: string, environment: Environment, note: string): Html {
  return html`<label for="${form}-key">${inLanguage(docs, `Your key for ${environment}`, `Tu clave de ${environment}`)}</label>
      <input id="${form}-key" type="password" required spellcheck="false" autocapitalize="off" autocomplete="off"
        placeholder="vtn_${environment.toLowerCase()}_…" pattern="[ -~]+" aria-describedby="${form}-key-note">
      <p id="${form}-key-note" class="quiet">${note}</p>`;
}

/** The buttons that send a form and empty it. */
export function formButtons(docs: Docs, send: string): Html {
  return html`<div class="buttons">
        <button type="submit">${send}</button>
        <button type="reset" class="plain">${inLanguage(docs, 'Start over', 'Volver a empezar')}</button>
      </div>`;
}

/** A note, and below it the status, headers and body of the answer. `label` names the box to screen readers. */
export function answerBox(label: string): Html {
  return html`<p data-part="note" role="status" class="try-note"></p>
      <section data-part="answer" class="answer" hidden aria-label="${label}">
        <h4 data-part="status"></h4>
        <dl data-part="headers"></dl>
        <pre tabindex="0"><code data-part="body"></code></pre>
      </section>`;
}
