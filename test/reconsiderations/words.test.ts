/** What counts as a question of somebody who was refused, and what does not (D50). The table is the rule's. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Asked, asksOf } from '../../src/subjects/reconsiderations/rules/words.ts';

const ASKED: readonly (readonly [text: string, ...asked: Asked[]])[] = [
  // Why, with and without accents, capitals and signs.
  ['¿Por qué me rechazaron?', 'why'],
  ['por que me rechazaron', 'why'],
  ['XQ ME NEGARON EL CREDITO', 'why'],
  ['porque no me aprobaron?', 'why'],
  ['pq no fui aprobada', 'why'],
  ['hola buenas, quisiera saber el motivo del rechazo', 'why'],
  ['¿cuál fue el motivo?', 'why'],
  ['me pueden explicar por q me lo negaron', 'why'],
  ['por qué', 'why'],
  ['¿por qué no?', 'why'],
  ['no entiendo por qué salió negada mi solicitud', 'why'],
  ['qual o motivo da recusa?', 'why'],
  ['por que não fui aprovado?', 'why'],
  ['porque meu pedido foi negado', 'why'],
  ['pq fui reprovada', 'why'],
  ['Why was I rejected?', 'why'],
  ['why did you decline my application', 'why'],
  ['what is the reason I was denied', 'why'],
  ['why', 'why'],
  // A review by a person.
  ['quiero que una persona lo revise', 'review'],
  ['quiero que lo revise una persona', 'review'],
  ['REVISIÓN', 'review'],
  ['revision', 'review'],
  ['Pedir revisión', 'review'],
  ['solicito una nueva revisión de mi caso', 'review'],
  ['por favor revisen mi solicitud', 'review'],
  ['pueden revisar de nuevo mi caso?', 'review'],
  ['quiero apelar la decisión', 'review'],
  ['pido que reconsideren', 'review'],
  ['exijo una segunda opinión', 'review'],
  ['que alguien mire mi caso por favor', 'review'],
  ['quero revisão', 'review'],
  ['quero uma revisão', 'review'],
  ['gostaria que uma pessoa analisasse meu pedido', 'review'],
  ['podem reavaliar meu pedido?', 'review'],
  ['quero recorrer da decisão', 'review'],
  ['I want a review', 'review'],
  ['can a person look at this?', 'review'],
  ['please review my application', 'review'],
  ['I would like to appeal', 'review'],
  ['¿Por qué me rechazaron? Quiero que una persona revise mi caso', 'why', 'review'],
  // The data.
  ['qué datos tienen de mí', 'data'],
  ['¿Qué información tienen sobre mí?', 'data'],
  ['que datos mios guardan', 'data'],
  ['quiero una copia de mis datos', 'data'],
  ['solicito acceso a mis datos personales', 'data'],
  ['quiero corregir mis datos', 'data'],
  ['habeas data', 'data'],
  ['que dados vocês têm de mim?', 'data'],
  ['quero acesso aos meus dados', 'data'],
  ['quero meus dados', 'data'],
  ['What data do you have about me?', 'data'],
  ['I want a copy of my personal data', 'data'],
  ['what information do you hold on me', 'data'],
];

const NOTHING: readonly string[] = [
  'hola',
  'gracias',
  'ok',
  'no gracias',
  'sí',
  'quiero un crédito',
  'cuánto cuesta',
  'buenos días, ¿están abiertos?',
  'aquí envío mis datos',
  'les mando mis datos por acá',
  'sí autorizo el tratamiento de mis datos',
  'autorizo el uso de mis datos personales',
  'no quiero revisión',
  'no necesito una revisión',
  'gracias por la revisión',
  'ya revisé',
  'me interesa',
  'ya pagué la deuda',
  'rechazo la oferta',
  'porque ya pagué',
  'não quero revisão',
  'obrigada pela revisão',
  'here is my data',
  'thanks for the review',
  'I do not want a review',
  'revisé mi correo y no hay nada',
  'la información llegó',
  'número equivocado',
  'BAJA',
  '',
  '👍',
  `${'a '.repeat(400)}por que me rechazaron`,
];

describe('D50: what somebody asks in ordinary words', () => {
  for (const [text, ...asked] of ASKED) {
    it(`“${text}” asks ${asked.join(' and ')}`, () => {
      assert.deepEqual([...asksOf(text)], asked);
      assert.deepEqual([...asksOf(text.toUpperCase())], asked);
      const bare = text.normalize('NFD').replace(/[\p{M}¿?¡!.,]/gu, '');
      assert.deepEqual([...asksOf(bare)], asked);
      assert.deepEqual([...asksOf(`  ${text}!!! 🙏`)], asked);
    });
  }
  for (const text of NOTHING) {
    it(`“${text.slice(0, 40)}” asks nothing`, () => assert.deepEqual([...asksOf(text)], []));
  }
});
