/**
 * The section of `/docs` about what happens after the registration: events, their push, and one application (D41).
 * Pure.
 */
import type { ReviewAction } from '../../domain/application/lifecycle.ts';
import { ALL_REASON_CODES, actionsOf } from '../../domain/application/reason-codes.ts';
import { PARTNER_EVENT_TYPES, type PartnerEventType } from '../../domain/event/event.ts';
import { LIMIT_CODES } from '../../domain/scorecard/scorecard.ts';
import { type Html, html, inline } from '../../ground/base/html.ts';
import { EVENT_WORDS, LIMIT_WORDS, REASON_WORDS } from '../../wire/contract/event-words.ts';
import {
  applicationExample,
  EXAMPLE_EVENTS,
  feedExamples,
  foundExamples,
  searchExamples,
} from '../../wire/contract/examples-reads.ts';
import { renderPartnerEvent } from '../../wire/contract/partner-event.ts';
import { MAX_EVENTS, MAX_FOUND } from '../../wire/contract/texts.ts';
import { answerBox, formButtons, keyField, unreachableText } from './form-parts.ts';
import { address, code, codes, type Docs, inLanguage, json, type Section, table } from './parts.ts';

/** Not a part of the sample below, because tools would take it for an import of this file. */
const CLIENT_PACKAGE = "'ventanilla-client'";

/** The feed, its events, the push, one application, the search, and a form that reads events and one application. */
export function events(docs: Docs): Section {
  const body = html`${feed(docs)}${meanings(docs)}${push(docs)}${oneApplication(docs)}${search(docs)}${readForm(docs)}`;
  return { id: 'events', title: inLanguage(docs, 'What happens later', 'Qué pasa después'), body };
}

function feed(docs: Docs) {
  return html`
    ${inLanguage(
      docs,
      html`<p>After its registration an application goes on: we review it, the applicant shows interest, a message fails. Each of these is an event. Ask for yours with your production key:</p>`,
      html`<p>Después de registrarse, una solicitud sigue su camino: la revisamos, el solicitante muestra interés, un mensaje falla. Cada uno de estos hechos es un evento. Pide los tuyos con tu clave de producción:</p>`,
    )}
    ${code(
      'curl',
      html`curl -sS "${address(docs, '/PRO/events')}?limit=${MAX_EVENTS}" -H "X-API-Key: $VENTANILLA_API_KEY"`,
    )}
    ${code(inLanguage(docs, 'Answer', 'Respuesta'), json(feedExamples().page))}
    <ul>
      <li>${inline(
        inLanguage(
          docs,
          'The events come in their order, each once, and none is left out. Their names are English in both languages.',
          'Los eventos llegan en su orden, cada uno una vez, y no falta ninguno. Sus nombres están en inglés en ambos idiomas.',
        ),
      )}</li>
      <li>${inline(
        inLanguage(
          docs,
          'Store `next` together with what you did, and send it as `after` the next time: at once while `has_more` is true, else after some seconds. `next` is there even when there are no events.',
          'Guarda `next` junto con lo que hiciste y envíalo como `after` la próxima vez: de inmediato si `has_more` es true; si no, tras unos segundos. `next` viene aunque no haya eventos.',
        ),
      )}</li>
      <li>${inline(
        inLanguage(
          docs,
          'We keep events for 30 days. A cursor from before that gets code 410: begin again without `after`.',
          'Conservamos los eventos 30 días. Un cursor más antiguo recibe el código 410: empieza de nuevo sin `after`.',
        ),
      )}</li>
      <li>${inline(
        inLanguage(
          docs,
          '`limit` is 1 to 500, and 100 without it. `id_number` is null where the data of the applicant was erased.',
          '`limit` va de 1 a 500, y es 100 si no lo envías. `id_number` es null si se borraron los datos del solicitante.',
        ),
      )}</li>
    </ul>
    ${code(
      'TypeScript',
      html`import { VentanillaClient } from ${CLIENT_PACKAGE};

const client = new VentanillaClient({
  url: '${address(docs, '/PRO')}',
  apiKey: process.env.VENTANILLA_API_KEY ?? '',
});
for await (const event of client.events({ after: await loadCursor(), follow: true })) {
  await handleAndStore(event, event.id);
}`,
    )}`;
}

function meanings(docs: Docs) {
  const { language } = docs;
  const membersOf = (type: PartnerEventType) => {
    const event = EXAMPLE_EVENTS.find((one) => one.type === type)!;
    const { data } = renderPartnerEvent(event) as { data: object };
    return codes(Object.keys(data));
  };
  const actions: Readonly<Record<ReviewAction, string>> = {
    approve: inLanguage(docs, 'approval', 'aprobación'),
    reject: inLanguage(docs, 'rejection', 'rechazo'),
    disburse: inLanguage(docs, 'disbursement', 'desembolso'),
  };
  return html`
    ${table(
      inLanguage(docs, 'Types of events', 'Tipos de eventos'),
      ['type', inLanguage(docs, 'When', 'Cuándo'), 'data'],
      PARTNER_EVENT_TYPES.map((type) => [
        html`<code>${type}</code>`,
        EVENT_WORDS[type][language],
        membersOf(type),
      ]),
    )}
    ${table(
      inLanguage(docs, 'Reason codes', 'Códigos de motivo'),
      [
        'reason_code',
        inLanguage(docs, 'What it means', 'Qué significa'),
        inLanguage(docs, 'Action', 'Acción'),
      ],
      ALL_REASON_CODES.map((reason) => [
        html`<code>${reason}</code>`,
        REASON_WORDS[reason][language],
        actionsOf(reason)
          .map((action) => actions[action])
          .join(', '),
      ]),
    )}`;
}

function push(docs: Docs) {
  return html`
    <h3>${inLanguage(docs, 'Have events pushed', 'Recibe los eventos en tu servidor')}</h3>
    ${inLanguage(
      docs,
      html`<p>Give us an https address, and we send each event there as well, as a POST with the same JSON. We give you a secret: verify the signature with it, by a library of Standard Webhooks (standardwebhooks.com) or by ${codes(['verifyWebhook'])} of our client. Answer with a code 2xx within 10 seconds, and expect an event twice: its <code>id</code> stays the same. What you missed is in the feed.</p>`,
      html`<p>Danos una dirección https y enviamos también allí cada evento, como un POST con el mismo JSON. Te damos un secreto: verifica con él la firma, con una biblioteca de Standard Webhooks (standardwebhooks.com) o con ${codes(['verifyWebhook'])} de nuestro cliente. Responde con un código 2xx en menos de 10 segundos y cuenta con que un evento puede llegar dos veces: su <code>id</code> no cambia. Lo que te perdiste está en la lista de eventos.</p>`,
    )}`;
}

function oneApplication(docs: Docs) {
  const acceptLanguage = docs.language === 'es' ? html` \\\n  -H 'Accept-Language: es'` : '';
  return html`
    <h3>${inLanguage(docs, 'One application as it is now', 'El estado actual de una solicitud')}</h3>
    ${code(
      'curl',
      html`curl -sS ${address(docs, '/PRO/applications/346')} -H "X-API-Key: $VENTANILLA_API_KEY"${acceptLanguage}`,
    )}
    ${code(inLanguage(docs, 'Answer', 'Respuesta'), json(applicationExample(docs.language)))}
    <p>${inline(
      inLanguage(
        docs,
        'The decision stays what the score said; the status is what a review made of it, `disbursed` in the end. Any id but one of your own gets 404.',
        'La decisión sigue siendo la del puntaje; el estado es lo que resultó de la revisión, al final `disbursed`. Cualquier otro id recibe 404.',
      ),
    )}</p>
    <p>${inline(
      inLanguage(
        docs,
        '`reason_code` says why the application has its status: it is the code of the last review, or of the limit that rejected the application at once. It is null where the score alone decided. `reason_codes` are up to four reasons of a decision that is no approval, the most important first.',
        '`reason_code` dice por qué la solicitud tiene ese estado: es el código de la última revisión, o el del límite que la rechazó de inmediato. Es null si solo decidió el puntaje. `reason_codes` son hasta cuatro motivos de una decisión que no es una aprobación, el más importante primero.',
      ),
    )}</p>
    ${table(
      inLanguage(docs, 'Codes of limits', 'Códigos de límites'),
      ['reason_code', inLanguage(docs, 'What it means', 'Qué significa')],
      LIMIT_CODES.map((limit) => [html`<code>${limit}</code>`, LIMIT_WORDS[limit][docs.language]]),
    )}`;
}

function search(docs: Docs) {
  const { language } = docs;
  const { person, next } = searchExamples(language);
  const command = (body: object) =>
    html`curl -sS ${address(docs, '/PRO/applications/search')} -H "X-API-Key: $VENTANILLA_API_KEY" \\
  -H 'Content-Type: application/json'${language === 'es' ? html` -H 'Accept-Language: es'` : ''} -d '${JSON.stringify(body)}'`;
  return html`
    <h3>${inLanguage(docs, 'Your applications of a day, or of a person', 'Tus solicitudes de un día, o de una persona')}</h3>
    ${code('curl', command(person))}
    ${code(inLanguage(docs, 'Answer', 'Respuesta'), json(foundExamples('PRO', language).page!))}
    ${code(inLanguage(docs, 'The next page of a day', 'La página siguiente de un día'), command(next))}
    <p>${inline(
      inLanguage(
        docs,
        `Ask with \`id_number\`, in any spelling, or with \`day\`, the day of the registration in UTC. Your own applications come, newest first, at most ${MAX_FOUND} a page. Send \`next\` as \`cursor\` until it is null: a page may be short, or empty, before the end.`,
        `Pregunta con \`cedula\`, escrita de cualquier forma, o con \`day\`, el día del registro en UTC. Vienen tus propias solicitudes, primero las más nuevas, ${MAX_FOUND} por página como máximo. Envía \`next\` como \`cursor\` hasta que sea null: una página puede venir corta, o vacía, antes del final.`,
      ),
    )}</p>`;
}

// The documentation's form that reads events or one application from here.

/** The form. It needs JavaScript, and stays hidden without it. */
function readForm(docs: Docs): Html {
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
