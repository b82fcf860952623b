/** The default texts of a conversation in Spanish (docs/conversation.md, "The flow of a brand"). Data alone. */
import type { TextKey } from '../flow.ts';
import type { Choice } from '../input.ts';

export const BUTTONS_ES: Readonly<Record<Choice, string>> = {
  yes: 'Sí, autorizo',
  no: 'No, gracias',
  done: 'Ya envié todo',
  skip: 'Seguir sin esto',
  connect: 'Conectar mi cuenta',
  accept: 'Acepto',
  decline: 'No acepto',
  resend: 'Enviar otro código',
  person: 'Hablar con alguien',
  go_on: 'Seguir',
  stop: 'No más mensajes',
  right: 'Sí, está bien',
  change: 'Cambiar la lista',
};

export const TEXTS_ES: Readonly<Record<TextKey, string>> = {
  consent:
    'Hola. Te escribe el asistente de Ventanilla en nombre de {partner}. Para seguir, ¿autorizas a {lender} a usar tus ' +
    'datos y los documentos que envíes aquí solo para {purposes}? Puedes conocerlos, corregirlos, pedir que se borren y ' +
    'retirar esta autorización: {data_rights}. Aviso de privacidad: {privacy_notice}',
  earnings:
    'Envíanos por aquí los comprobantes de tus ingresos de los últimos tres meses: extractos o reportes de la ' +
    'plataforma, en PDF o en foto. Puedes enviar varios.',
  debts:
    'Ahora dinos qué deudas quieres juntar en una sola cuota. Escribe una por línea, con el acreedor y el saldo, así:\n' +
    'Banco Azul 1.500.000\nNu 800 mil\nTambién puedes enviar el extracto en PDF o en foto. Si prefieres, sigue sin ' +
    'esto.',
  debts_right: 'Estas son tus deudas:\n{debts}\nSuman {sum}. ¿Está bien?',
  summary:
    'Esta es tu oferta, con todos sus costos:\nMonto: {amount}\nSe desembolsan: {net}, el {disbursement}. De eso, a tus acreedores: {creditors}; a ti: {to_applicant}\n' +
    'Cuota mensual: {installment}\nNúmero de cuotas: {months}, la primera el {first_due}\nCargos y seguros: {fees}. Impuestos: {taxes}\nTotal a pagar: {total}\n' +
    '{interest_rate_name}: {interest_rate}\n{rate_name}: {rate}\nIntereses de mora: {late_rate}\nPrestamista: {lender}\nVálida hasta el {valid_until}\nRetracto después de firmar: {withdrawal}\n¿Quieres ver el contrato?',
  contract:
    'Este es tu contrato. Léelo con calma antes de decidir. Su huella, para comprobar que nadie lo cambie, es: ' +
    '{hash}. ¿Aceptas este contrato?',
  last_four:
    'Para firmar, escribe los últimos cuatro caracteres de tu documento de identidad. No escribas el número completo.',
  code: 'Te enviamos un código de seis dígitos por {way}. Escríbelo aquí antes de {minutes} minutos.',
  open_link:
    'Para conocer tus ingresos, abre este enlace y conecta tu cuenta. El enlace es solo tuyo y vence pronto: no lo ' +
    'compartas. Cuando termines, escribe LISTO. Si prefieres no hacerlo, escribe NO.',
  enter_code:
    'Tu banco te envió un código. Escríbelo aquí: lo usamos una sola vez y no lo guardamos. Si no te llegó, escribe ' +
    'OTRO CÓDIGO. Si prefieres no hacerlo, escribe NO.',
  earnings_again: 'Envía por aquí tus comprobantes de ingresos, en PDF o en foto.',
  debts_again:
    'Escribe tus deudas, una por línea (Banco Azul 1.500.000), envía el extracto o sigue sin esto.',
  debts_right_again: '¿Está bien la lista de tus deudas? Si no, tócalo o escribe la lista otra vez.',
  summary_again: '¿Quieres ver el contrato de tu oferta?',
  contract_again: '¿Aceptas el contrato que te enviamos? Para aceptar, toca el botón o escribe ACEPTO.',
  code_again: 'Escribe aquí el código de seis dígitos que te enviamos.',
  open_link_again:
    'Abre el enlace que te enviamos y escribe LISTO cuando termines. Si ya no sirve, escribe OTRO ENLACE.',
  person_hint: 'Si prefieres hablar con una persona, escribe ASESOR.',
  not_understood: 'Perdona, no entendí tu mensaje.',
  no_hurry: 'Está bien, sin prisa. Cuando quieras, seguimos por aquí.',
  offer_person: 'Todavía no logro entenderte. Si quieres, te atiende una persona.',
  stop_or_go_on: 'Queremos entenderte bien: ¿dejamos de escribirte o seguimos? Toca un botón, por favor.',
  handed_over: 'Listo. Una persona del equipo te escribirá por este chat.',
  wrong_person:
    'Gracias por avisarnos, y disculpa. No te escribiremos más sobre esta solicitud. Una persona del equipo revisará ' +
    'el número.',
  costs_changed:
    'Las condiciones cambiaron desde que viste la oferta. Te mostramos las de ahora antes del contrato.',
  tap_first:
    'Hola. Gracias por escribirnos sobre la solicitud con {partner}. Para seguir en este chat, toca el botón.',
  given_back: 'Hola de nuevo. Seguimos con tu solicitud.',
  reminder: 'Tu solicitud con {partner} sigue abierta. Te falta este paso:',
  outlook:
    'Por ahora calculamos un crédito de {amount} en {months} cuotas de cerca de {installment}. La oferta final llega después ' +
    'de revisar tus documentos.',
  amount_too_small:
    'El crédito más pequeño que podemos ofrecerte es de {limit}, y tu solicitud es por menos.',
  amount_too_large: 'El crédito más grande que podemos ofrecerte es de {limit}, y tu solicitud es por más.',
  other_currency: 'Tu solicitud está en otra moneda: aquí solo prestamos en {limit}.',
  id_number_short:
    'El número de documento de tu solicitud está incompleto, y así no podemos hacer un contrato.',
  files_received: 'Recibimos tus archivos ({count}) y los estamos revisando. ¿Tienes más?',
  files_needed: 'Para seguir necesitamos al menos un archivo que se pueda leer.',
  file_not_needed: 'En este paso no necesitamos archivos.',
  too_many_files: 'Ya tenemos suficientes archivos de este paso. Los demás no los guardamos.',
  media_not_read:
    'No podemos leer audios, videos ni stickers. Envía un PDF o una foto, o escribe tu respuesta.',
  file_gone: 'No pudimos descargar uno de tus archivos. Envíalo otra vez, por favor.',
  file_too_large: 'Uno de tus archivos es demasiado grande. Envíalo más pequeño, por favor.',
  file_wrong_type: 'Uno de tus archivos no es un PDF ni una foto que podamos abrir.',
  file_locked: 'Uno de tus archivos tiene clave. Envíalo sin clave, por favor.',
  file_infected: 'No aceptamos uno de tus archivos porque no es seguro.',
  file_unreadable: 'No logramos leer uno de tus archivos. Envíalo completo y con buena luz, por favor.',
  file_other_person: 'Uno de tus archivos está a nombre de otra persona. Envía el tuyo, por favor.',
  file_by_person: 'Hoy ya leímos muchos archivos tuyos. Guardamos este, y una persona lo va a revisar.',
  file_rejected: 'Revisamos tus archivos. De los que enviaste, no podemos aceptar el número {numbers}.',
  file_accepted: 'Revisamos otra vez el archivo número {numbers} de los que enviaste: sí nos sirve.',
  debts_change: 'Claro, cambiémosla. Escribe la lista completa otra vez.',
  debts_unclear:
    'No entendí bien estas líneas: {numbers}. Escribe la lista otra vez, con el acreedor y el saldo en cifras: Banco Azul 1.500.000.',
  debts_other_currency:
    'Estas líneas están en otra moneda: {numbers}. Escribe la lista otra vez, con los saldos en la moneda de tu solicitud.',
  debts_twice:
    'Estas líneas repiten una deuda: {numbers}. Escribe la lista otra vez, con cada deuda una sola vez.',
  debts_too_many:
    'Por aquí podemos anotar hasta 20 deudas. Escribe la lista otra vez, con las que quieres juntar.',
  debts_by_person:
    'Tu oferta se hizo con las deudas que nos confirmaste. Para cambiarlas, escribe ASESOR y una persona te ayuda.',
  still_reading: 'Todavía estamos leyendo tus archivos. Te escribimos en un momento.',
  checking: 'Gracias. Estamos revisando tu información y te escribimos por aquí.',
  in_review: 'Tu solicitud está en revisión. Te escribimos por aquí cuando haya una respuesta.',
  approved: '¡Buenas noticias! Tu solicitud fue aprobada.',
  person_will_write: 'Una persona del equipo revisará tu caso y te escribirá por este chat.',
  source_again: 'Todavía no pudimos ver tu cuenta.',
  answer_wrong: 'Eso no coincide. Revísalo y escríbelo otra vez.',
  code_expired: 'El código ya venció.',
  code_replaced: 'El código anterior ya no sirve.',
  code_not_sent: 'No pudimos enviar el código.',
  sending_code: 'Gracias. Te estamos enviando un código.',
  withdraw_too_late:
    'El plazo para retirarte de este contrato ya pasó. Una persona del equipo te escribirá por este chat.',
  withdrawal_right:
    'Si cambias de idea, puedes retractarte sin dar razones hasta el {until}: escribe RETRACTO en este chat.',
  withdrawal_word:
    'Si quieres retirarte del contrato, escribe solo la palabra RETRACTO en este chat, a más tardar el {until}.',
  signed_copy: 'Este es tu contrato firmado, con el certificado de la firma. Su huella es: {hash}.',
  schedule_copy: 'Tu crédito ya se desembolsó. Este es el calendario final de tus cuotas, con sus fechas.',
  signed:
    '¡Listo! Tu contrato quedó firmado. Te lo enviamos por este chat. Gracias por confiar en {partner} y Ventanilla.',
  after_signed: 'Tu contrato está firmado y lo tienes en este chat. Por aquí no vemos cuándo sale el pago.',
  declined: 'Entendido. No seguimos con tu solicitud por este chat. Gracias por tu tiempo.',
  withdrawn: 'Entendido. Registramos que te retiras.',
  expired: 'No supimos más de ti y cerramos esta conversación. Si quieres seguir, escribe ASESOR.',
  closed: 'Esta conversación está cerrada. Si necesitas algo, escribe ASESOR.',
};
