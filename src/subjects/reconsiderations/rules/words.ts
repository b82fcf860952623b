/**
 * What somebody asks who was refused, or whose data is stored, in ordinary Spanish, Portuguese or English (D50): why,
 * a review by a person, or the data. Accents, capitals and question marks do not matter. Pure.
 * Its test has the table of what counts and what does not.
 */
import { plainWords } from '../../../domain/message/opt-out-words.ts';

/** `why`: the reasons; `review`: that a person looks again; `data`: what is stored about the person. */
export type Asked = 'why' | 'review' | 'data';

/** A longer text says more than a question; a person reads it. */
const MOST_CHARACTERS = 600;

const any = (...patterns: readonly string[]) => new RegExp(`\\b(?:${patterns.join('|')})`);
const wholly = (...patterns: readonly string[]) => new RegExp(`^(?:${patterns.join('|')})$`);

/** How people spell in a chat. */
const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/\b(xq|xk|pq|pk|porq|porke|por ke|por k|por q|porque)\b/g, 'por que'],
  [/\b(q|k|ke|qe)\b/g, 'que'],
  [/\b(vcs|vc)\b/g, 'voces'],
  [/\b(n|naum)\b/g, 'nao'],
];

// Why.

const ASKS_REASON = any(
  ...['por que', 'motivos?', 'raz(on|ones|ao|oes)\\b', 'causas?\\b', 'a que se debe', 'como asi', 'explic'],
  ...['why', 'reasons?\\b', 'how come', 'what happened'],
);
const REFUSED = any(
  ...[
    'rechaz',
    'neg(ad|ar|aron|o|ativ)',
    'nieg',
    'deneg',
    'descart',
    'no (me |lo |la |le )?(aprob|acept|dier|dan|quier)',
  ],
  ...['no (fue|fui|salio|quedo|he sido|califi|clasifi|pas|aplic)', 'recus', 'reprov', 'rejeit', 'indefer'],
  ...[
    'nao (me )?(foi|fui|aprov|aceit|dera|pass|consegui)',
    'reject',
    'refus',
    'declin',
    'den(y|ied|ial)',
    'turned',
  ],
  ...['(not|wasn t|was not|didn t|did not|don t) (get )?(approv|accept|qualif|get)'],
);
const WHY_ALONE = wholly(
  ...['(pero |y |e |mas |but )?(por que|por que no|why|why not|how come)( no| motivo| razon| razao)?'],
  ...['(cual|que|qual) (fue |es |foi |e )?(el |la |o |a )?(motivo|razon|causa|razao)', '(el |o )?motivo'],
);

// A review by a person.

const REVIEW = any(
  ...[
    '(una|otra|nueva|pedir|quiero|solicito|pido|uma|outra|nova|quero|peco|solicitar) (una |uma )?(otra |nueva |nova )?revis(ion|ao)\\b',
  ],
  ...[
    '(revis|reevalu|reanal|reav)\\w* (de nuevo |otra vez |novamente |de novo |bien )?(mi|el|la|o|a|meu|minha) (caso|solicitud|credito|decision|pedido|analise|decisao)',
  ],
  ...[
    '((una|alguna) persona|alguien|un (humano|asesor)) (que )?(me )?(lo |la )?(revis|mir|ve[ar]|estudi|anali)',
  ],
  ...['(lo|la|me|que) (revise|revisen|mire|miren|vea|vean) (una persona|alguien|un (humano|asesor))'],
  ...['((uma|alguma) pessoa|alguem|um humano) (que )?(me )?(o |a )?(revis|olh|vej|anali|reveja)'],
  ...[
    'que (lo|la) (revisen|vuelvan a (ver|revisar|mirar|estudiar))',
    'vuelvan a (ver|revisar|mirar|estudiar)',
  ],
  ...['(que )?(revejam|reavaliem|revisem)', 'reconsid', 'apel(o|ar|acion|acao)\\b', 'recurso\\b', 'impugn'],
  ...['segunda (revision|opinion|oportunidad|revisao|opiniao|chance|analise)', 'recorrer (da|desta) decisao'],
  ...[
    '(review|check|look at) (of )?(my|the|this|it)( \\w+)? ?(application|case|decision|loan|again)',
    'look again',
    'appeal',
  ],
  ...[
    '(want|need|request|ask for|like|have) (a |another )?(human |manual )?review',
    'second look',
    'reviewed by',
  ],
  ...['(a )?(person|human|somebody|someone) (to )?(review|look|check)'],
);
const REVIEW_ALONE = wholly(
  '(pedir |quiero )?revision( por favor)?',
  '(pedir |quero )?revisao( por favor)?',
  '(ask for )?(a )?review( please)?',
);
/** The text declines a review, or tells of one that was made. */
const NO_REVIEW = any(
  ...[
    'no (quiero|necesito|pido|hace falta|deseo)( \\w+)? (revis|apel|reconsid)',
    'nao (quero|preciso)( \\w+)? (revis|apel)',
  ],
  ...['(gracias|obrigad[oa]) (por|pela|pelo) (la |su |tu )?(revis|reconsid)', '(thanks|thank you) for'],
  ...['(do not|don t) (want|need)( \\w+)? (review|appeal)', 'ya (lo )?revise\\b', 'ja revisei'],
);

// The data.

const DATA_WORD = 'datos|dados|data|informacion|informacao|informacoes|information|info';
const DATA = any(
  ...[
    `que (${DATA_WORD}) (personales |pessoais )?(tienen|tiene|guardan|guarda|manejan|voces tem|voce tem|tem|guardam)( \\w+){0,3} (mi|mios?|mias?|mim|meus?)\\b`,
  ],
  ...[
    `que (${DATA_WORD}) (mios?|mias?|meus|minhas)`,
    `que (saben|sabem|tienen|guardan|tem|guardam) (de|sobre) (mi|mim)\\b`,
  ],
  ...[
    `(cuales|quais) (${DATA_WORD}|son|sao)( \\w+){0,3} (tienen|guardan|tem|guardam) (de|sobre) (mi|mim)\\b`,
  ],
  ...[
    `(acceso a|acceder a|copia de|conocer|consultar|corregir|rectificar|actualizar|saber) (todos )?(mis|los) (datos|informacion)( personales)?( mios)?`,
  ],
  ...[
    `(quiero|solicito|pido|necesito|dame|denme|envienme|mandenme) (ver |saber )?(todos )?mis datos`,
    'mis datos personales',
  ],
  ...[
    `(acesso a|acessar|copia d|conhecer|consultar|corrigir|retificar|ver)(os)? (os )?(todos )?(os )?(meus|aos meus) dados`,
    'acesso aos meus dados',
  ],
  ...[`(quero|solicito|peco|preciso) (ver |saber )?(todos )?(os )?meus dados`, 'meus dados pessoais'],
  ...[
    'habeas data',
    'ley 1581',
    'lgpd',
    'derechos? arco\\b',
    'tratamiento de (mis )?datos',
    'tratamento d(e|os) (meus )?dados',
  ],
  ...[
    `what (${DATA_WORD}) (do you|you) (have|hold|store|keep)( \\w+){0,2} me\\b`,
    'what do you know about me',
  ],
  ...[
    `(copy of|access to|see|export|correct|get) (all )?my (personal )?(${DATA_WORD})`,
    'data (access|subject) request',
    'my personal data',
  ],
);
/** Sends data, or agrees to their use: that asks for none. */
const GIVES_DATA = any(
  ...[
    '(aqui |ahi |ya )?(le |les |te )?(envio|mando|adjunto|dejo|envie|mande|actualice) (todos )?mis datos',
    '(si )?autorizo',
    'estos son mis datos',
  ],
  ...[
    '(aqui )?(estao|envio|mando|seguem) (os )?meus dados',
    'here (is|are) my',
    'i (agree|authorize|sent|send)',
  ],
);

/** What a text asks; several things at once are possible. */
export function asksOf(text: string): ReadonlySet<Asked> {
  const asked = new Set<Asked>();
  if (text.length > MOST_CHARACTERS) return asked;
  const words = SPELLINGS.reduce((some, [from, to]) => some.replace(from, to), plainWords(text));
  if (WHY_ALONE.test(words) || (ASKS_REASON.test(words) && REFUSED.test(words))) asked.add('why');
  if ((REVIEW.test(words) || REVIEW_ALONE.test(words)) && !NO_REVIEW.test(words)) asked.add('review');
  if (DATA.test(words) && !GIVES_DATA.test(words)) asked.add('data');
  return asked;
}
