/** The documentation's first section: a key, the first batch, and how to read its answer. */
import { batchExamples } from '../../wire/contract/examples.ts';
import { NAMES } from '../../wire/contract/response.ts';
import { MAX_APPLICATIONS } from '../../wire/contract/texts.ts';
import { html } from './html.ts';
import { address, code, type Docs, inLanguage, json, type Section, table } from './parts.ts';

/** Four steps: a key, a batch on `/DEV`, how to read the answer, `/PRO`. */
export function start(docs: Docs): Section {
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
