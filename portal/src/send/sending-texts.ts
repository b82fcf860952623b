/** The texts of the part of the page that sends a file, by language. */
import { type Language, useLanguage } from '../../../console/src/texts/texts.ts';

const en = {
  title: 'Send',
  onlyOwner: 'Only an owner sends a file.',
  noKey: 'There is no live key. Add one on the page of keys.',
  key: 'Key',
  environment: 'To',
  production: 'Production',
  sandbox: 'Sandbox: nothing is stored',
  unanswered: 'Answer the questions above first.',
  nothing: 'No row can be sent.',
  room: (rows: string) => `The quota has room for ${rows}.`,
  tooFew:
    'The rows that do not fit are left over. Send the same file again later: nobody is registered twice.',
  again: (at: string) =>
    `This file was sent from this browser on ${at}. What was answered then comes back, and nobody is registered twice.`,
  anew: (at: string) =>
    `This file was sent from this browser on ${at}, more than 23 hours ago or read in another way. Phones with an open application are refused, but applicants without a phone can be registered twice.`,
  anyway: 'Send it anyway',
  ask: (rows: string) => `Send ${rows} applicants`,
  question: (rows: string, key: string) => `Send ${rows} applicants as key ${key}…?`,
  where: { PRO: 'They are registered in production.', DEV: 'They go to the sandbox, which stores nothing.' },
  unreadable: (rows: string) => `Rows that cannot be read, and are not sent: ${rows}.`,
  invalid: (rows: string) => `Rows that are sent, and that the service will refuse: ${rows}.`,
  sending: (rows: string, all: string) => `Sending: ${rows} of ${all} rows`,
  stop: 'Stop',
  stopping: 'Stopping after the batches under way.',
  waiting: (seconds: string) => `The service does not answer. Trying again in ${seconds} s.`,
  goOn: 'Go on',
  ended: {
    done: 'All rows are settled.',
    quota: 'Stopped at the quota.',
    stopped: 'Stopped. Nothing is lost: go on, or send the same file again.',
  },
  more: (minutes: string) => `More of the quota is free in ${minutes} minutes at the latest.`,
  failed: {
    session: 'Your session has ended. Sign in, and send the same file again: nobody is registered twice.',
    no_answer: 'The service does not answer. Go on later: nobody is registered twice.',
    file: 'The file changed while it was sent. Choose it again.',
  },
  refused: (text: string) => `The service refused it: ${text}`,
  codes: {
    key_ended: 'The key is revoked or expired. Choose another one.',
    other_environment: 'The key is for the other environment.',
    idempotency_reuse:
      'This file was sent by another version of this page, which writes rows differently. Ask the operator which rows are registered.',
  },
  registered: {
    approved: 'Registered, approved',
    in_review: 'Registered, in review',
    rejected: 'Registered, rejected',
  },
  duplicates: 'Refused, duplicate',
  invalids: 'Refused, invalid',
  unreadables: 'Not sent, a cell cannot be read',
  inDoubt: 'In doubt',
  notSent: 'Not sent yet',
  duplicate: 'a request already exists for this messaging-channel number',
  download: 'Download the rows that were not taken (CSV)',
};

type SendingTexts = typeof en;

const es: SendingTexts = {
  title: 'Enviar',
  onlyOwner: 'Solo un titular envía un archivo.',
  noKey: 'No hay ninguna clave vigente. Agrega una en la página de claves.',
  key: 'Clave',
  environment: 'A',
  production: 'Producción',
  sandbox: 'Entorno de pruebas: no se guarda nada',
  unanswered: 'Responde antes las preguntas de arriba.',
  nothing: 'Ninguna fila se puede enviar.',
  room: (rows) => `La cuota tiene espacio para ${rows}.`,
  tooFew:
    'Las filas que no caben quedan pendientes. Envía el mismo archivo más tarde: nadie queda registrado dos veces.',
  again: (at) =>
    `Este archivo se envió desde este navegador el ${at}. Vuelven las respuestas de entonces, y nadie queda registrado dos veces.`,
  anew: (at) =>
    `Este archivo se envió desde este navegador el ${at}, hace más de 23 horas o leído de otra manera. Se rechazan los teléfonos con una solicitud abierta, pero quien no tiene teléfono puede quedar registrado dos veces.`,
  anyway: 'Enviarlo de todos modos',
  ask: (rows) => `Enviar ${rows} solicitantes`,
  question: (rows, key) => `¿Enviar ${rows} solicitantes con la clave ${key}…?`,
  where: { PRO: 'Quedan registrados en producción.', DEV: 'Van al entorno de pruebas, que no guarda nada.' },
  unreadable: (rows) => `Filas que no se pueden leer, y no se envían: ${rows}.`,
  invalid: (rows) => `Filas que se envían, y que el servicio rechazará: ${rows}.`,
  sending: (rows, all) => `Enviando: ${rows} de ${all} filas`,
  stop: 'Detener',
  stopping: 'Se detiene después de los lotes en curso.',
  waiting: (seconds) => `El servicio no responde. Se intenta de nuevo en ${seconds} s.`,
  goOn: 'Seguir',
  ended: {
    done: 'Todas las filas quedaron resueltas.',
    quota: 'Detenido en la cuota.',
    stopped: 'Detenido. No se pierde nada: sigue, o envía de nuevo el mismo archivo.',
  },
  more: (minutes) => `A más tardar en ${minutes} minutos se libera más cuota.`,
  failed: {
    session:
      'Tu sesión terminó. Inicia sesión y envía de nuevo el mismo archivo: nadie queda registrado dos veces.',
    no_answer: 'El servicio no responde. Sigue más tarde: nadie queda registrado dos veces.',
    file: 'El archivo cambió mientras se enviaba. Elígelo de nuevo.',
  },
  refused: (text) => `El servicio lo rechazó: ${text}`,
  codes: {
    key_ended: 'La clave está revocada o vencida. Elige otra.',
    other_environment: 'La clave es para el otro ambiente.',
    idempotency_reuse:
      'Este archivo lo envió otra versión de esta página, que escribe las filas distinto. Pregunta al operador qué filas quedaron registradas.',
  },
  registered: {
    approved: 'Registradas, aprobadas',
    in_review: 'Registradas, en revisión',
    rejected: 'Registradas, rechazadas',
  },
  duplicates: 'Rechazadas, duplicadas',
  invalids: 'Rechazadas, no válidas',
  unreadables: 'No enviadas, una celda no se puede leer',
  inDoubt: 'En duda',
  notSent: 'Aún no enviadas',
  duplicate: 'ya existe una solicitud para este número del canal de mensajería',
  download: 'Descargar las filas que no se aceptaron (CSV)',
};

const pt: SendingTexts = {
  title: 'Enviar',
  onlyOwner: 'Só um titular envia um arquivo.',
  noKey: 'Não há nenhuma chave vigente. Adicione uma na página de chaves.',
  key: 'Chave',
  environment: 'Para',
  production: 'Produção',
  sandbox: 'Ambiente de testes: nada é guardado',
  unanswered: 'Responda antes às perguntas acima.',
  nothing: 'Nenhuma linha pode ser enviada.',
  room: (rows) => `A cota tem espaço para ${rows}.`,
  tooFew:
    'As linhas que não cabem ficam pendentes. Envie o mesmo arquivo mais tarde: ninguém é registrado duas vezes.',
  again: (at) =>
    `Este arquivo foi enviado deste navegador em ${at}. As respostas de então voltam, e ninguém é registrado duas vezes.`,
  anew: (at) =>
    `Este arquivo foi enviado deste navegador em ${at}, há mais de 23 horas ou lido de outra forma. Telefones com uma solicitação aberta são recusados, mas quem não tem telefone pode ser registrado duas vezes.`,
  anyway: 'Enviar mesmo assim',
  ask: (rows) => `Enviar ${rows} solicitantes`,
  question: (rows, key) => `Enviar ${rows} solicitantes com a chave ${key}…?`,
  where: {
    PRO: 'Eles são registrados em produção.',
    DEV: 'Eles vão para o ambiente de testes, que não guarda nada.',
  },
  unreadable: (rows) => `Linhas que não podem ser lidas, e não são enviadas: ${rows}.`,
  invalid: (rows) => `Linhas que são enviadas, e que o serviço vai recusar: ${rows}.`,
  sending: (rows, all) => `Enviando: ${rows} de ${all} linhas`,
  stop: 'Parar',
  stopping: 'Para depois dos lotes em andamento.',
  waiting: (seconds) => `O serviço não responde. Nova tentativa em ${seconds} s.`,
  goOn: 'Continuar',
  ended: {
    done: 'Todas as linhas foram resolvidas.',
    quota: 'Parado na cota.',
    stopped: 'Parado. Nada se perde: continue, ou envie o mesmo arquivo de novo.',
  },
  more: (minutes) => `Mais cota fica livre em até ${minutes} minutos.`,
  failed: {
    session: 'Sua sessão terminou. Entre e envie o mesmo arquivo de novo: ninguém é registrado duas vezes.',
    no_answer: 'O serviço não responde. Continue mais tarde: ninguém é registrado duas vezes.',
    file: 'O arquivo mudou durante o envio. Escolha-o de novo.',
  },
  refused: (text) => `O serviço recusou: ${text}`,
  codes: {
    key_ended: 'A chave está revogada ou vencida. Escolha outra.',
    other_environment: 'A chave é para o outro ambiente.',
    idempotency_reuse:
      'Este arquivo foi enviado por outra versão desta página, que escreve as linhas de outra forma. Pergunte ao operador quais linhas foram registradas.',
  },
  registered: {
    approved: 'Registradas, aprovadas',
    in_review: 'Registradas, em análise',
    rejected: 'Registradas, rejeitadas',
  },
  duplicates: 'Recusadas, duplicadas',
  invalids: 'Recusadas, inválidas',
  unreadables: 'Não enviadas, uma célula não pode ser lida',
  inDoubt: 'Em dúvida',
  notSent: 'Ainda não enviadas',
  duplicate: 'já existe uma solicitação para este número do canal de mensagens',
  download: 'Baixar as linhas que não foram aceitas (CSV)',
};

const TEXTS: Readonly<Record<Language, SendingTexts>> = { en, es, pt };

export function useSendingTexts(): SendingTexts {
  return TEXTS[useLanguage()];
}
