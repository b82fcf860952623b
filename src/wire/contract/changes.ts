/**
 * The documentation's changelog, newest first; its newest version is the version of the interface (contract,
 * "Versioning"). Data alone.
 */
import type { Words } from '../../ground/base/language.ts';

interface ApiChange {
  readonly version: string;
  /** Code is between backticks. */
  readonly changes: readonly Words[];
}

export const API_CHANGES: readonly [ApiChange, ...ApiChange[]] = [
  {
    version: '1.6.0',
    changes: [
      {
        en: '`POST /PRO/applications/search` lists your own applications as they are now: those of a day, or those with an ID number in any spelling. On `/DEV` it checks the request and finds nothing.',
        es: '`POST /PRO/applications/search` lista tus propias solicitudes como están ahora: las de un día, o las de un número de identificación escrito de cualquier forma. En `/DEV` revisa la petición y no encuentra nada.',
      },
    ],
  },
  {
    version: '1.5.0',
    changes: [
      {
        en: '`GET /PRO/applications/{id}` and the event `application.status_changed` tell up to four reasons of a decision that is no approval, the most important first: `reason_codes`. The answer to a batch is as before.',
        es: '`GET /PRO/applications/{id}` y el evento `application.status_changed` dicen hasta cuatro motivos de una decisión que no es una aprobación, el más importante primero: `reason_codes`. La respuesta a un lote es como antes.',
      },
      {
        en: 'With `Accept: application/json; profile=codes` errors have a `code` beside their text, faults of fields are listed in `fields`, and `X-Quota-Remaining` and `X-Quota-Reset` tell what is left of the daily cap. Without it answers are as before.',
        es: 'Con `Accept: application/json; profile=codes` los errores traen un `code` junto a su texto, los campos con fallos vienen en `fields`, y `X-Quota-Remaining` y `X-Quota-Reset` dicen cuánto queda del cupo diario. Sin eso, las respuestas son como antes.',
      },
      {
        en: 'An application may tell when, in which words and how the applicant agreed that you pass the data on: `consent_at`, `consent_text`, `consent_channel`. They are optional and change no outcome.',
        es: 'Una solicitud puede decir cuándo, con qué palabras y cómo te autorizó el solicitante a entregar sus datos: `consentimiento_fecha`, `consentimiento_texto`, `consentimiento_canal`. Son opcionales y no cambian ningún resultado.',
      },
    ],
  },
  {
    version: '1.4.0',
    changes: [
      {
        en: '`GET /PRO/events` tells what happened to your applications after their registration: reviews with the code of their reason, interest, failed messages. The events are in order and without gaps, and are kept for 30 days.',
        es: '`GET /PRO/events` cuenta qué pasó con tus solicitudes después de registrarlas: revisiones con el código de su motivo, interés, mensajes fallidos. Los eventos vienen en orden y sin huecos, y se conservan 30 días.',
      },
      {
        en: 'With `types` you read of the conversation too that an applicant may have after the tap on "I am interested": its beginning, documents, income, contract and end. Without `types` the feed is as before.',
        es: 'Con `types` también lees sobre la conversación que puede seguir al toque de "Me interesa": comienzo, documentos, ingreso, contrato y fin. Sin `types`, la lista es como antes.',
      },
      {
        en: '`GET /PRO/applications/{id}` tells one of your applications as it is now: its status, the reason for it, and when its contract was signed or withdrawn from.',
        es: '`GET /PRO/applications/{id}` dice cómo está ahora una de tus solicitudes: su estado, el motivo, y cuándo se firmó el contrato o se retractó el solicitante.',
      },
      {
        en: 'A key for the other environment still gets 401, with a text that says which environment it is for. A compressed body, and one with a byte order mark, still get 400, with a text that says so.',
        es: 'Una clave del otro ambiente sigue recibiendo 401, con un texto que dice para qué ambiente es. Un cuerpo comprimido, o con una marca de orden de bytes, sigue recibiendo 400, con un texto que lo dice.',
      },
      {
        en: 'An ID number that is sent as a number of 2^53 or more comes back as null: JSON has rounded it. Send it as text.',
        es: 'Un número de identificación enviado como número de 2^53 o más vuelve como null: JSON lo redondeó. Envíalo como texto.',
      },
      {
        en: 'If you ask for it, we push the events to an address of yours too, signed as Standard Webhooks says.',
        es: 'Si lo pides, también enviamos los eventos a una dirección tuya, firmados según Standard Webhooks.',
      },
      {
        en: 'A phone gets at most 3 messages in 24 hours, one rejection among them, over all partners. A message names the applicant only where `name` is a name: letters, not digits, addresses or a sentence. The answers do not change.',
        es: 'Un teléfono recibe como máximo 3 mensajes en 24 horas, entre ellos un rechazo, de todos los aliados juntos. Un mensaje nombra al solicitante solo si `nombre` es un nombre: letras, no dígitos, direcciones ni una frase. Las respuestas no cambian.',
      },
      {
        en: 'Phones are read by the plan of their country: `+593 098 765 4321` and `+593 98 765 4321` are one phone. A phone that its country cannot have is refused; so is one without country code that could be of your country or of that of `currency`.',
        es: 'Los teléfonos se leen según el plan de su país: `+593 098 765 4321` y `+593 98 765 4321` son un mismo teléfono. Se rechaza el que su país no puede tener, y también el que viene sin código de país y podría ser de tu país o del de `moneda`.',
      },
      {
        en: 'An ID number of more than 64 characters is not valid; the answer repeats its first 64.',
        es: 'Un número de identificación de más de 64 caracteres no es válido; la respuesta repite los primeros 64.',
      },
      {
        en: 'Of the answers under an `Idempotency-Key` that registered nobody, the service remembers about the newest 1000 of each API key.',
        es: 'De las respuestas con `Idempotency-Key` que no registraron a nadie, el servicio recuerda unas 1000 por clave de API, las más recientes.',
      },
    ],
  },
  {
    version: '1.3.0',
    changes: [
      {
        en: '`/openapi.json` has the English names alone, so that clients made from it have plain types; `/openapi.es.json` has the Spanish ones. The service reads both as before.',
        es: '`/openapi.json` tiene solo los nombres en inglés, para que los clientes generados tengan tipos sencillos; `/openapi.es.json` tiene los nombres en español. El servicio lee ambos como antes.',
      },
    ],
  },
  {
    version: '1.2.0',
    changes: [
      {
        en: 'Once your quota is used up, every application without faults is `quota_partner_exceeded`; before, a duplicate was still told as one.',
        es: 'Agotada tu cuota, toda solicitud sin errores es `quota_partner_excedida`; antes, un duplicado se seguía informando como tal.',
      },
      {
        en: 'A body over 65536 bytes holds at most 50000 values, unknown fields included, or gets 400; a batch needs 1300.',
        es: 'Un cuerpo de más de 65536 bytes tiene como máximo 50000 valores, contando los campos desconocidos, o recibe 400; un lote necesita 1300.',
      },
    ],
  },
  {
    version: '1.1.0',
    changes: [
      {
        en: 'Reserved phones on `/DEV` force each outcome that you have to handle; `/PRO` refuses them.',
        es: 'Teléfonos reservados en `/DEV` fuerzan cada resultado que debes manejar; `/PRO` los rechaza.',
      },
      {
        en: 'This documentation at `/docs` and the OpenAPI document at `/openapi.json`.',
        es: 'Esta documentación en `/docs` y el documento OpenAPI en `/openapi.json`.',
      },
    ],
  },
  {
    version: '1.0.0',
    changes: [
      {
        en: '`POST` and `GET` on `/PRO` and `/DEV`, with English and Spanish names.',
        es: '`POST` y `GET` en `/PRO` y `/DEV`, con nombres en inglés y en español.',
      },
      {
        en: '`Idempotency-Key` on `POST /PRO`: a retry registers nobody twice.',
        es: '`Idempotency-Key` en `POST /PRO`: un reintento no registra a nadie dos veces.',
      },
    ],
  },
];

/** The version of the interface. */
export const API_VERSION = API_CHANGES[0].version;
