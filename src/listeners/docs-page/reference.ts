/**
 * The sections of `/docs` about requests, answers and everyday use: fields, scoring, answers, older names, quota, safe
 * retries, tools, changes. Pure. The tables of `wire/contract` and `domain` have the rules.
 */
import { INITIAL_STATUS } from '../../domain/application/lifecycle.ts';
import { CRITERIA, type Criterion, type Decision, MAX_POINTS } from '../../domain/scorecard/scorecard.ts';
import { type Content, type Html, html, inline } from '../../ground/base/html.ts';
import type { Words } from '../../ground/base/language.ts';
import { API_CHANGES } from '../../wire/contract/changes.ts';
import { describeRule, isLegacy, isRequired, nameIn, typeName } from '../../wire/contract/describe.ts';
import { batchExamples, EXAMPLE_DAILY_CAP, quotaExamples } from '../../wire/contract/examples.ts';
import { DECISION_NAMES, NAMES, QUOTA_WINDOW, STATUS_NAMES } from '../../wire/contract/response.ts';
import { MAX_APPLICATIONS, REFUSAL_TEXTS } from '../../wire/contract/texts.ts';
import { address, code, codes, type Docs, inLanguage, json, type Section, table } from './parts.ts';

/** Every field with its meaning and its rule, from the field table (D5-D12). */
export function fieldTable(docs: Docs): Section {
  const { language, fields } = docs;
  const rows = fields.map((field) => {
    const shown = nameIn(field, language);
    // The documented name and the channel's name. Spanish names are in a table of their own.
    const others = field.names.filter((name) => name !== shown && !isLegacy(field, name));
    const required = html` · <strong>${inLanguage(docs, 'required', 'requerido')}</strong>`;
    return [
      html`<code>${shown}</code><span class="kind">${typeName(field.rule)}${isRequired(field.rule) ? required : ''}</span>`,
      html`<p>${inline(field.about[language])}. ${inline(describeRule(field, language))}${
        others.length > 0
          ? html` ${inLanguage(docs, 'Also read as', 'También se lee como')} ${codes(others)}.`
          : ''
      }</p>`,
    ];
  });
  const body = html`
    ${inLanguage(
      docs,
      html`<p>The body is <code>{ "applications": [ … ] }</code>, JSON in UTF-8. <code>null</code> is the same as absent, and fields that are not listed are ignored.</p>`,
      html`<p>El cuerpo es <code>{ "aplicaciones": [ … ] }</code>, JSON en UTF-8. <code>null</code> es lo mismo que ausente, y los campos que no están en la lista se ignoran.</p>`,
    )}
    ${table(inLanguage(docs, 'Fields of an application', 'Campos de una solicitud'), [inLanguage(docs, 'Field', 'Campo'), inLanguage(docs, 'What it is and takes', 'Qué es y qué acepta')], rows)}
    <p class="note">${inLanguage(
      docs,
      'Ask the applicant for consent before you send the application, and pass the answer as it is: an applicant who said no is registered and scored all the same, but never contacted.',
      'Pide el consentimiento antes de enviar la solicitud y pasa la respuesta tal cual: quien dijo que no también se registra y se puntúa, pero nunca se le escribe.',
    )}</p>`;
  return { id: 'fields', title: inLanguage(docs, 'Fields', 'Campos'), body };
}

const CRITERION_WORDS: Readonly<Record<Criterion, Words>> = {
  payment_capacity: {
    en: 'Payment capacity: income against a reference installment',
    es: 'Capacidad de pago: ingreso frente a una cuota de referencia',
  },
  channel: { en: 'Channel of origin', es: 'Canal de origen' },
  debt_age: { en: 'Age of the overdue debt', es: 'Antigüedad de la mora' },
  num_debts: { en: 'Number of overdue debts', es: 'Número de deudas en mora' },
  prior_history: { en: 'Prior payment history', es: 'Historial de pago previo' },
};

/** The criteria with their most points, and the bands of the policy in force. */
export function scoring(docs: Docs): Section {
  const { language, bands } = docs;
  const outcome = (decision: Decision): Content[] => [
    html`<code>${DECISION_NAMES[language][decision]}</code>`,
    html`<code>${statusOf(docs, decision)}</code>`,
  ];
  const score = inLanguage(docs, 'score', 'puntaje');
  const between = `${score} ${bands.in_review} ${inLanguage(docs, 'to', 'a')} ${bands.approved - 1}`;
  const body = html`
    <p>${inLanguage(
      docs,
      `Every valid application gets a score from 0 to 100, the sum of ${CRITERIA.length} criteria. The score decides. Scores in the examples of this page are examples.`,
      `Cada solicitud válida recibe un puntaje de 0 a 100, la suma de ${CRITERIA.length} criterios. El puntaje decide. Los puntajes en los ejemplos de esta página son ejemplos.`,
    )}</p>
    ${table(
      inLanguage(docs, 'Most points of each criterion', 'Máximo de puntos por criterio'),
      [inLanguage(docs, 'Criterion', 'Criterio'), inLanguage(docs, 'Points, at most', 'Puntos, máximo')],
      CRITERIA.map((criterion) => [CRITERION_WORDS[criterion][language], MAX_POINTS[criterion]]),
    )}
    ${table(
      inLanguage(docs, 'What the score decides', 'Qué decide el puntaje'),
      [inLanguage(docs, 'When', 'Si'), 'decision', NAMES[language].status],
      [
        [`${score} ≥ ${bands.approved}`, ...outcome('approved')],
        ...(bands.approved > bands.in_review ? [[between, ...outcome('in_review')]] : []),
        [`${score} < ${bands.in_review}`, ...outcome('rejected')],
        [inLanguage(docs, 'amount above the limit', 'monto por encima del límite'), ...outcome('rejected')],
      ],
    )}`;
  return { id: 'scoring', title: inLanguage(docs, 'Scoring', 'Puntaje'), body };
}

function statusOf({ language }: Docs, decision: Decision): string {
  return STATUS_NAMES[language][INITIAL_STATUS[decision]];
}

/** The members of a batch's answer, and an example with each outcome. */
export function answers(docs: Docs): Section {
  const { language, fields } = docs;
  const names = NAMES[language];
  const mixed = batchExamples(fields, 'PRO', language).find(({ name }) => name === 'mixed');
  const rows: [string, Html][] = [
    [names.processed, inLanguage(docs, html`How many were registered.`, html`Cuántas se registraron.`)],
    [names.errors, inLanguage(docs, html`How many were not.`, html`Cuántas no.`)],
    [
      names.results,
      inLanguage(
        docs,
        html`The registered ones, in the order you sent them: ${codes([names.id_number, names.name])} as you sent them, ${codes(['id', 'score', 'decision', names.status])}.`,
        html`Las registradas, en el orden en que las enviaste: ${codes([names.id_number, names.name])} como los enviaste, ${codes(['id', 'score', 'decision', names.status])}.`,
      ),
    ],
    [
      names.errors_detail,
      inLanguage(
        docs,
        html`The others, with <code>${names.id_number}</code> and <code>error</code>; only there when something failed.`,
        html`Las demás, con <code>${names.id_number}</code> y <code>error</code>; solo aparece cuando algo falló.`,
      ),
    ],
    [
      'mode',
      inLanguage(
        docs,
        html`<code>dev</code> on <code>/DEV</code> alone. There <code>id</code> is null, <code>simulated</code> is true, and <code>would_notify</code> tells which message production would send, and where.`,
        html`<code>dev</code>, solo en <code>/DEV</code>. Allí <code>id</code> es null, <code>simulated</code> es true y <code>would_notify</code> dice qué mensaje enviaría producción, y adónde.`,
      ),
    ],
  ];
  const body = html`
    ${table(
      inLanguage(docs, 'Members of the answer to a batch', 'Partes de la respuesta a un lote'),
      [inLanguage(docs, 'Member', 'Parte'), inLanguage(docs, 'What it says', 'Qué dice')],
      rows.map(([name, text]) => [html`<code>${name}</code>`, text]),
    )}
    <p>${inline(
      inLanguage(
        docs,
        `This is the answer to a batch with one of each outcome, sent to \`/PRO\` with a key whose daily cap is ${EXAMPLE_DAILY_CAP}. We may add members to answers: ignore those that you do not know.`,
        `Esta es la respuesta a un lote con uno de cada resultado, enviado a \`/PRO\` con una clave cuyo tope diario es ${EXAMPLE_DAILY_CAP}. Podemos agregar partes a las respuestas: ignora las que no conozcas.`,
      ),
    )}</p>
    ${code(inLanguage(docs, 'Answer', 'Respuesta'), json(mixed?.answer))}
    <details><summary>${inLanguage(docs, 'The batch that was sent', 'El lote que se envió')}</summary>
    ${code(inLanguage(docs, 'Batch', 'Lote'), json(mixed?.request))}</details>
    ${inLanguage(
      docs,
      html`<p>Every answer carries <code>X-Request-Id</code>. Quote it when you ask us for help.</p>`,
      html`<p>Cada respuesta trae <code>X-Request-Id</code>. Menciónalo cuando nos pidas ayuda.</p>`,
    )}`;
  return { id: 'answers', title: inLanguage(docs, 'Answers', 'Respuestas'), body };
}

/** The names in both languages side by side, of requests and answers (D5, D24, D25). */
export function legacyNames(docs: Docs): Section {
  const sent = docs.fields.map((field) => [
    html`<code>${field.name}</code>`,
    codes(field.names.filter((name) => isLegacy(field, name))),
  ]);
  const pairs = (en: Readonly<Record<string, string>>, es: Readonly<Record<string, string>>) =>
    Object.entries(en).flatMap(([key, name]) => (name === es[key] ? [] : [[name, es[key] ?? '']]));
  const read = [
    ...pairs(NAMES.en, NAMES.es),
    ...pairs(STATUS_NAMES.en, STATUS_NAMES.es),
    ...pairs(DECISION_NAMES.en, DECISION_NAMES.es),
    [REFUSAL_TEXTS.over_quota.en, REFUSAL_TEXTS.over_quota.es],
  ].map((pair) => pair.join(' '));
  const [english, spanish] = [inLanguage(docs, 'English', 'Inglés'), inLanguage(docs, 'Spanish', 'Español')];
  const body = html`
    ${inLanguage(
      docs,
      html`<p>English names are the documented ones. The Spanish ones are still read in both environments, and you may mix them; where both carry a value, the English one wins. A batch whose root is <code>aplicaciones</code> is answered in Spanish. For GET, and for requests that fail before the batch is read, send <code>Accept-Language: es</code>. We can also pin a key to one language.</p>`,
      html`<p>Los nombres en inglés son los documentados. Los españoles se siguen leyendo en ambos ambientes y puedes mezclarlos; si ambos traen valor, gana el inglés. Un lote cuya raíz es <code>aplicaciones</code> se responde en español. Para GET, y para peticiones que fallan antes de leer el lote, envía <code>Accept-Language: es</code>. También podemos fijar una clave a un idioma.</p>`,
    )}
    ${table(
      inLanguage(docs, 'Names that you send', 'Nombres que envías'),
      [english, spanish],
      [[html`<code>applications</code>`, html`<code>aplicaciones</code>`], ...sent],
    )}
    ${table(
      inLanguage(docs, 'Names and values that come back', 'Nombres y valores que vuelven'),
      [english, spanish],
      [...new Set(read)].map((pair) => pair.split(' ').map((name) => html`<code>${name}</code>`)),
    )}
    <p>${inline(
      inLanguage(
        docs,
        'Whatever is not in this table keeps its English name, and so does `remaining` in the answer to GET.',
        'Lo que no está en esta tabla conserva su nombre en inglés, y también `remaining` en la respuesta a GET.',
      ),
    )}</p>`;
  return { id: 'names', title: inLanguage(docs, 'Spanish names', 'Nombres en español'), body };
}

// The second part, everyday use: quota, safe retries, tools and changes.

/** Not a part of the sample below, because tools would take it for an import of this file. */
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
