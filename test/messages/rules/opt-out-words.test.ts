/**
 * A text asks for no more messages where the whole text is such a request, in any spelling (docs/messages.md,
 * "Consent").
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { asksToStop } from '../../../src/messages/rules/opt-out-words.ts';

const WORDS: Readonly<Record<string, readonly string[]>> = {
  es: [
    ...['BAJA', 'SALIR', 'PARAR', 'PARE', 'ALTO', 'DETENER', 'CANCELAR', 'ELIMINAR', 'ELIMINARME', 'BASTA'],
    ...['dar de baja', 'darme de baja', 'quiero darme de baja', 'denme de baja', 'quiero que me den de baja'],
    ...['¿me pueden dar de baja?', 'dar de baja mi número', 'solicito la baja', 'baja de la lista'],
    ...['no más', 'NO MAS', 'ya no más', 'no más mensajes', 'no +', 'no quiero +'],
    ...['no quiero más', 'ya no quiero más', 'no quiero más mensajes', 'no quiero recibir más mensajes'],
    ...['no deseo recibir sus mensajes', 'no quiero mensajes', 'no quiero publicidad'],
    ...[
      'me quiero dar de baja',
      'no me interesa, dejen de escribir',
      'baja x favor',
      'BAJA\nBAJA',
      'Baja baja!',
    ],
    ...[
      'eliminar mi número',
      'borren mi número de su lista',
      'no molestar',
      'no molesten más',
      'no me llamen',
    ],
    ...['basta de mensajes'],
    ...[
      'no me escriban',
      'no me escriban más',
      'no me contacten',
      'no me molesten',
      'ya no me manden mensajes',
    ],
    ...['no envíen más', 'dejen de escribirme', 'desuscribir', 'desuscribirme', 'cancelar suscripción'],
    ...[
      'CANCELAR INSCRIPCIÓN',
      'quiero cancelar mi suscripción',
      'bórrenme de la lista',
      'quítenme de su lista',
    ],
    ...['RETIRAR', 'retírenme', 'retirarme', 'quiero retirarme', 'retírame de la lista', 'retiren mi número'],
    ...['me retiran por favor', 'quiero que me retiren de su lista', 'retirar mi consentimiento'],
    ...['QUITAR', 'quítame', 'quítenme', 'quiero que me quiten', 'me quitan de la lista', 'quitar mi número'],
    ...[
      'retiro mi autorización',
      'revoco mi consentimiento',
      'reportado por spam',
      'quiero revocar la autorización',
      'REVOCAR',
    ],
    ...[
      'SPAM',
      'es spam',
      'esto es spam',
      'no más spam',
      'no quiero spam',
      'dejen de mandar spam',
      'basta de spam',
    ],
    ...['no autorizo', 'No autorizo más mensajes', 'no los autorizo', 'yo no autoricé esto'],
    ...['no autorizo que me escriban', 'no autorizo el uso de mis datos', 'no autorizo recibir mensajes'],
    ...[
      'ya no quiero',
      'ya no quiero nada',
      'ya no deseo',
      'ya no quiero recibir nada',
      'YA NO QUIERO NADA MÁS',
    ],
    ...['ya no quiero recibir más mensajes', 'ya no quiero que me escriban más', 'ya no quiero sus mensajes'],
  ],
  pt: [
    ...['SAIR', 'PARE', 'PARAR', 'CANCELAR', 'REMOVER', 'DESCADASTRAR', 'descadastre-me', 'me descadastrar'],
    ...['EXCLUIR', 'quero sair', 'quero sair da lista', 'me tire da lista', 'cancelar inscrição'],
    ...['não quero mais', 'nao quero mais', 'n quero mais', 'não quero +', 'não quero mais receber'],
    ...[
      'não quero receber mais mensagens',
      'não quero mais receber mensagens',
      'não me mande mais mensagens',
    ],
    ...['não enviar mais', 'pare de me mandar mensagens', 'não me incomodem', 'chega'],
    ...['me tira da lista', 'não tenho interesse, pare de me mandar mensagens', 'SAIR SAIR'],
  ],
  en: [
    // 47 CFR 64.1200(a)(10)
    ...['stop', 'quit', 'end', 'revoke', 'opt out', 'opt-out', 'cancel', 'unsubscribe'],
    ...[
      'STOP ALL',
      'STOPALL',
      'remove me',
      'no more messages',
      "don't message me",
      'do not contact me again',
    ],
    ...['stop messaging me', 'I want to unsubscribe', 'take me off your list'],
  ],
};

describe('a text that is a request', () => {
  for (const [language, words] of Object.entries(WORDS)) {
    for (const word of words) it(`${language}: ${word}`, () => assert.ok(asksToStop(word)));
  }
});

describe('a request in any spelling', () => {
  const FORMS = [
    ...['bájà', 'BAJA \n', ' Salir. ', 'PARAR!!', 'cancelar…', '¡Baja!', '"BAJA"', '*BAJA*', 'Stop .'],
    ...['BAJA 🙏', '🛑 STOP 🛑', 'BAJA👍🏽', 'sair ❤️', '👨‍👩‍👧 baja'],
    ...['ＢＡＪＡ', 'ｓｔｏｐ', 'ＳＡＩＲ', '𝗕𝗔𝗝𝗔', 'ⓑⓐⓙⓐ'],
    ...['B A J A', 'b.a.j.a', 'BAJAAAA', 'STOOOP', 'ba\u200bja', '\u202eBAJA'],
    ...[
      'BAJA por favor',
      'Por favor, dar de baja. Gracias',
      'hola, baja',
      'Buenos días. No quiero más mensajes, gracias',
    ],
    ...['stop please', 'SAIR, obrigada', 'Olá, bom dia, quero sair por favor'],
  ];
  for (const text of FORMS) it(JSON.stringify(text), () => assert.ok(asksToStop(text)));

  it('capitals, accents, emoji, spaces and punctuation change nothing', () => {
    const noise = fc.array(fc.constantFrom(' ', '\n', '.', '!', '…', '🙏', '👍🏽', '"', '\ufe0f', '\u200d'), {
      maxLength: 6,
    });
    const words = fc.constantFrom(...Object.values(WORDS).flat());
    const upper = fc.boolean();
    fc.assert(
      fc.property(noise, words, upper, noise, (before, word, isUpper, after) =>
        asksToStop(`${before.join('')}${isUpper ? word.toUpperCase() : word}${after.join('')}`),
      ),
    );
  });
});

describe('a sentence with such a word, or with a similar one', () => {
  const OTHERS = [
    ...['', '.', '🙏', 'hola', 'gracias', 'por favor', 'ya', 'no', 'no gracias', 'No, muchas gracias', 'sí'],
    ...[
      '¿me pueden dar de baja el interés?',
      'la tasa es baja',
      '¿la tasa baja?',
      'bajar',
      'baja la cuota por favor',
    ],
    ...['quiero cancelar mi deuda', 'ya voy a cancelar', 'voy a salir del país', 'no quiero más deudas'],
    ...[
      'no quiero',
      'no me interesa',
      '¿cuándo puedo salir de esto?',
      'no más intereses',
      'para mañana',
      'alto costo',
    ],
    ...[
      '¿puedo cancelar la deuda hoy?',
      'no quiero recibir el crédito en efectivo',
      'quiero eliminar mi deuda',
    ],
    ...[
      '¿puedo retirar el dinero?',
      'retirar el dinero',
      'quiero retirar',
      'retiro en efectivo',
      'retiro',
      '¿dónde retiro?',
    ],
    ...[
      'me retiraron del trabajo',
      'quiero retirar mi solicitud',
      'quiero retirar mi dinero',
      'me retiro mañana',
    ],
    ...[
      '¿me pueden quitar los intereses?',
      'quitar la deuda',
      'quiero quitar una deuda',
      'me quitaron la tarjeta',
    ],
    ...['¿es spam?', '¿esto es spam?', '¿no es spam?', 'no es spam', 'me llegó a spam', 'pensé que era spam'],
    ...[
      'no autorizo el descuento',
      '¿no autorizaron el crédito?',
      'no me autorizaron',
      'no me autorizan el crédito',
    ],
    ...['autorizo', 'sí autorizo', 'no autorizan', 'crédito no autorizado'],
    ...['ya no quiero pagar tanto', 'ya no quiero deber', 'ya no quiero esa tasa', 'ya no quiero intereses'],
    ...[
      'ya no quiero esperar más',
      '¿y si ya no quiero el crédito?',
      'ya no lo quiero',
      'quitarme un peso de encima',
    ],
    ...[
      'quero sair com você',
      'vou sair agora',
      'não quero mais juros',
      'pare o carro',
      'quero cancelar a dívida',
    ],
    ...['quero parar de pagar juros', 'não quero', 'para receber o dinheiro'],
    ...['STOPS', 'the end of the month', 'can I cancel my debt?', 'stop by tomorrow', 'when does it end'],
    ...['abajo', 'BAJA CALIFORNIA', 'vivo en Baja California', 'interested.17', `BAJA${' '.repeat(150)}`],
  ];
  for (const text of OTHERS)
    it(JSON.stringify(text.slice(0, 60)), () => assert.equal(asksToStop(text), false));

  it('any text is read quickly', () => {
    const piece = fc.constantFrom(
      'no ',
      'ya ',
      'me ',
      'quiero ',
      'de baja ',
      'mas ',
      'gracias ',
      '+',
      'aaa',
      '🙏',
    );
    const text = fc.array(piece, { maxLength: 120 }).map((pieces) => pieces.join('').slice(0, 120));
    const start = process.cpuUsage();
    fc.assert(
      fc.property(text, (body) => {
        asksToStop(body);
      }),
      { numRuns: 500 },
    );
    assert.ok(process.cpuUsage(start).user < 5_000_000);
  });
});
