/** The documentation's sandbox: the phones that force an outcome, and a form that sends a batch to `/DEV`. */

import { SANDBOX_SCENARIOS } from '../../domain/application/sandbox.ts';
import { batchExamples } from '../../wire/contract/examples.ts';
import { answerBox, formButtons, keyField, unreachableText } from './form-parts.ts';
import { html, inline } from './html.ts';
import { type Docs, inLanguage, type Section, table } from './parts.ts';

/** Every reserved phone (D38), and the form. Without JavaScript a note stands in place of the form. */
export function tryIt(docs: Docs): Section {
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
