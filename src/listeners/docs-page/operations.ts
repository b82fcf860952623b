/** The documentation of everyday use: quota, safe retries, tools and changes. */
import { API_CHANGES } from '../../wire/contract/changes.ts';
import { quotaExamples } from '../../wire/contract/examples.ts';
import { QUOTA_WINDOW } from '../../wire/contract/response.ts';
import { MAX_APPLICATIONS, REFUSAL_TEXTS } from '../../wire/contract/texts.ts';
import { html, inline } from './html.ts';
import { address, code, type Docs, inLanguage, json, type Section, table } from './parts.ts';

/** Kept apart from its sample, where a tool would take it for an import of this file. */
const CLIENT_PACKAGE = "'ventanilla-client'";

/** The quota: which applications count, the cap, and GET (D16, D18, D22). */
export function quota(docs: Docs): Section {
  const { language } = docs;
  const acceptLanguage = language === 'es' ? html` \\\n  -H 'Accept-Language: es'` : '';
  const exceeded = REFUSAL_TEXTS.over_quota[language];
  const body = html`
    ${inLanguage(
      docs,
      html`<p>Your key may have a daily cap. It counts what was registered on <code>/PRO</code> in the last 24 hours (<code>${QUOTA_WINDOW}</code>), by all your keys together: each application leaves the window 24 hours after it came in. Faulty and duplicate applications use nothing. Once the cap is reached every further application without faults is refused as over quota, also one that would be a duplicate.</p>
        <p>When a batch is larger than what remains, the first ones that fit are registered and the rest come back with <code>${exceeded}</code>, still with code 200. Send those again when there is room. GET tells where you stand:</p>`,
      html`<p>Tu clave puede tener un tope diario. Cuenta lo registrado en <code>/PRO</code> en las últimas 24 horas (<code>${QUOTA_WINDOW}</code>), por todas tus claves juntas: cada solicitud sale de la ventana 24 horas después de entrar. Las que tienen errores o están duplicadas no gastan. Alcanzado el tope, toda solicitud sin errores se rechaza por cuota, también la que sería un duplicado.</p>
        <p>Cuando un lote es mayor que lo que queda, se registran las primeras que caben y las demás vuelven con <code>${exceeded}</code>, también con código 200. Envíalas de nuevo cuando haya cupo. GET dice cómo vas:</p>`,
    )}
    ${code('curl', html`curl -sS ${address(docs, '/PRO')} -H "X-API-Key: $VENTANILLA_API_KEY"${acceptLanguage}`)}
    ${code(inLanguage(docs, 'Answer', 'Respuesta'), json(quotaExamples('PRO', language).capped))}
    <p>${inLanguage(
      docs,
      html`Without a cap, the cap and <code>remaining</code> are null; ${MAX_APPLICATIONS} per request still holds.`,
      html`Sin tope, el tope y <code>remaining</code> son null; el máximo de ${MAX_APPLICATIONS} por petición se mantiene.`,
    )}</p>`;
  return { id: 'quota', title: inLanguage(docs, 'Quota', 'Cuota'), body };
}

/** Safe retries: `Idempotency-Key`, and when to send again (D36, D37). */
export function retries(docs: Docs): Section {
  const body = html`
    ${inLanguage(
      docs,
      html`<p>An answer can get lost on its way to you. Give each batch a name of its own in <code>Idempotency-Key</code> (1 to 255 printable ASCII characters) on <code>POST /PRO</code>, and you can send it again without a second thought: the same name with the same bytes gets the first answer again, byte for byte, for 24 hours, and registers nobody twice. Of answers that registered nobody, about your newest 1000 are remembered. A repeated answer carries <code>Idempotency-Replayed: true</code>.</p>`,
      html`<p>Una respuesta puede perderse en el camino. Dale a cada lote un nombre propio en <code>Idempotency-Key</code> (de 1 a 255 caracteres ASCII imprimibles) en <code>POST /PRO</code> y podrás reenviarlo sin dudar: el mismo nombre con los mismos bytes recibe otra vez la primera respuesta, byte por byte, durante 24 horas, y nadie se registra dos veces. De las respuestas que no registraron a nadie se recuerdan unas 1000, las más recientes. La respuesta repetida trae <code>Idempotency-Replayed: true</code>.</p>`,
    )}
    ${code(
      'curl',
      html`curl -sS ${address(docs, '/PRO')} \\
  -H "X-API-Key: $VENTANILLA_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -H 'Idempotency-Key: 2026-11-21-batch-0001' \\
  --data-binary @batch.json`,
    )}
    ${table(
      inLanguage(docs, 'When to send again', 'Cuándo reenviar'),
      [inLanguage(docs, 'What you get', 'Qué recibes'), inLanguage(docs, 'What to do', 'Qué hacer')],
      [
        [
          inLanguage(
            docs,
            'No answer, or the connection closed',
            'Ninguna respuesta, o se cerró la conexión',
          ),
          inLanguage(
            docs,
            'The batch may be stored or not. Send the same bytes under the same name.',
            'No se sabe si el lote entró. Envía los mismos bytes con el mismo nombre.',
          ),
        ],
        [
          html`<code>500</code>`,
          inLanguage(
            docs,
            inline(
              'Nothing was stored. Wait for `Retry-After` seconds or a moment, longer each time, and send the same again.',
            ),
            inline(
              'No se guardó nada. Espera los segundos de `Retry-After` o un momento, cada vez más, y envía lo mismo.',
            ),
          ),
        ],
        [
          html`<code>200</code>`,
          inLanguage(
            docs,
            'Done. Corrected applications go into a new batch with a new name.',
            'Listo. Las solicitudes corregidas van en un lote nuevo con un nombre nuevo.',
          ),
        ],
        [
          html`<code>4xx</code>`,
          inLanguage(
            docs,
            'Sending the same again does not help. The same name with another body is refused with 400.',
            'Reenviar lo mismo no ayuda. El mismo nombre con otro cuerpo se rechaza con 400.',
          ),
        ],
      ],
    )}`;
  return { id: 'retries', title: inLanguage(docs, 'Safe retries', 'Reintentos seguros'), body };
}

/** The bulk command, the client and the OpenAPI document, in a few lines each. */
export function tools(docs: Docs): Section {
  const body = html`
    <p>${inLanguage(
      docs,
      'Both come with the source of the service. Ask us for them if you do not have it.',
      'Ambas vienen con el código del servicio. Pídenoslas si no lo tienes.',
    )}</p>
    <h3>${inLanguage(docs, 'A file, from the terminal', 'Un archivo, desde la terminal')}</h3>
    ${inLanguage(
      docs,
      html`<p><code>ventanilla submit</code> takes CSV, XLSX, JSON and JSON Lines with column names in English or Spanish. <code>--dry-run</code> checks every row on your machine and sends nothing. A run that was interrupted goes on where it stopped, and rows that were refused are written to a file that you correct and send again.</p>`,
      html`<p><code>ventanilla submit</code> acepta CSV, XLSX, JSON y JSON Lines con nombres de columna en inglés o en español. <code>--dry-run</code> revisa cada fila en tu equipo y no envía nada. Una ejecución interrumpida sigue donde quedó, y las filas rechazadas quedan en un archivo que corriges y reenvías.</p>`,
    )}
    ${code(
      inLanguage(docs, 'Terminal', 'Terminal'),
      html`export VENTANILLA_API_KEY='vtn_…'
ventanilla submit applicants.csv --url ${address(docs, '')} --dry-run
ventanilla submit applicants.csv --url ${address(docs, '')}`,
    )}
    <h3>${inLanguage(docs, 'From TypeScript or JavaScript', 'Desde TypeScript o JavaScript')}</h3>
    ${inLanguage(
      docs,
      html`<p><code>ventanilla-client</code> takes any number of applications, splits them into batches, retries safely and gives one outcome for each, at its place. It has no dependencies; keep it on a server, for it holds your key.</p>`,
      html`<p><code>ventanilla-client</code> recibe cualquier cantidad de solicitudes, las divide en lotes, reintenta con seguridad y da un resultado por cada una, en su lugar. No tiene dependencias; úsalo en un servidor, porque lleva tu clave.</p>`,
    )}
    ${code(
      'TypeScript',
      html`import { VentanillaClient } from ${CLIENT_PACKAGE};

const client = new VentanillaClient({
  url: '${address(docs, '/PRO')}',
  apiKey: process.env.VENTANILLA_API_KEY ?? '',
});
const outcomes = await client.submit(applications, { submissionId: '2026-11-21' });
const registered = outcomes.filter(({ kind }) => kind === 'registered');`,
    )}
    <h3>OpenAPI</h3>
    ${inLanguage(
      docs,
      html`<p><a href="${docs.basePath}/openapi.json">openapi.json</a> describes all of this for programs: OpenAPI 3.1, made from the same tables that the service runs on.</p>`,
      html`<p><a href="${docs.basePath}/openapi.json">openapi.json</a> describe todo esto para programas: OpenAPI 3.1, hecho con las mismas tablas con las que funciona el servicio.</p>`,
    )}`;
  return { id: 'tools', title: inLanguage(docs, 'Tools', 'Herramientas'), body };
}

/** The versions of the interface, newest first. */
export function changes(docs: Docs): Section {
  const body = html`${API_CHANGES.map(
    ({ version, changes: list }) =>
      html`<h3>${version}</h3><ul>${list.map((words) => html`<li>${inline(words[docs.language])}</li>`)}</ul>`,
  )}`;
  return { id: 'changes', title: inLanguage(docs, 'Changes', 'Cambios'), body };
}
