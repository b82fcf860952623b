/** How people spell the names of columns, in English, Spanish and Portuguese. */
import type { FieldName } from '../../../../src/domain/application/fields.ts';

/** Spellings besides the documented names, in the form of `simplify`. */
const LIKELY: Readonly<Record<FieldName, readonly string[]>> = {
  name: ['full name', 'applicant', 'applicant name', 'nombre completo', 'nombres', 'nombres apellidos', 'nombre apellido', 'nombre solicitante', 'solicitante', 'nome', 'nome completo', 'nome sobrenome', 'nome solicitante', 'nome cliente'],
  id_number: ['id', 'national id', 'document', 'document number', 'identification', 'numero cedula', 'cedula ciudadania', 'documento', 'documento identidad', 'numero documento', 'identificacion', 'numero identificacion', 'dni', 'cpf', 'numero cpf', 'documento identidade', 'identidade'],
  city: ['city residence', 'ciudad residencia', 'municipio', 'cidade', 'cidade residencia'],
  phone: [],
  platform: ['app', 'aplicacion', 'aplicativo'],
  currency: ['currency code', 'divisa', 'codigo moneda', 'tipo moneda', 'moeda', 'codigo moeda', 'tipo moeda'],
  income: ['monthly income', 'ingresos', 'ingreso mensual', 'ingresos mensuales', 'renda', 'renda mensal', 'rendimento', 'rendimentos', 'rendimento mensal'],
  debt_amount: ['debt', 'total debt', 'amount debt', 'deuda', 'deuda total', 'monto', 'valor deuda', 'divida', 'divida total', 'valor divida', 'montante divida'],
  num_debts: ['number debts', 'debts', 'cantidad deudas', 'deudas', 'numero dividas', 'quantidade dividas', 'dividas', 'cuantas deudas', 'cant deudas', 'quantas dividas', 'qtd dividas', 'qtde dividas'],
  debt_age: ['age debt', 'antiguedad', 'antiguedad deuda', 'mora', 'tiempo mora', 'tiempo atraso', 'tempo atraso', 'tempo mora', 'tempo divida', 'antiguidade', 'antiguidade divida', 'atraso', 'antiguedad deudas', 'tiempo deuda', 'tiempo deudas', 'tempo dividas'],
  prior_history: ['history', 'payment history', 'historial', 'historial pago', 'historial pagos', 'historico', 'historico previo', 'historico anterior', 'historico pagamento', 'historico pagamentos', 'credit history', 'historial crediticio', 'historial credito', 'historia crediticia', 'historico credito'],
  messaging_optin: ['optin', 'opt in', 'messaging opt in', 'messaging consent', 'consent', 'consentimiento', 'consentimiento mensajes', 'acepta mensajes', 'consentimento', 'consentimento mensagens', 'aceita mensagens', 'consentimiento whatsapp', 'consentimento whatsapp', 'acepta whatsapp', 'acepta recibir mensajes', 'autoriza mensajes', 'autoriza recibir mensajes', 'autoriza whatsapp', 'autorizacion mensajes', 'autorizacion whatsapp', 'aceita whatsapp', 'aceita receber mensagens', 'autoriza mensagens', 'autoriza receber mensagens', 'aceite whatsapp'],
}; // biome-ignore format: one table

/** A name of a column is that of a phone where it has one of these words, and else only words that change nothing. */
const PHONE = wordsOf(
  'telefono telefonos telefone telefones tel telf tlf fono fone phone phones telephone cel celular celulares movil moviles' +
    ' mobile cell cellphone telemovel whatsapp whatsap wsp wpp wa',
);
const BESIDE_PHONE = wordsOf(
  'numero number contacto contato contact principal personal pessoal cliente customer solicitante applicant titular usuario' +
    ' user n no num nro con com with codigo code pais country indicativo prefijo lada ddd ddi area o ou or para for registrado',
);

/**
 * Words by which a column that no field is read from may be meant for a field: for an optional one, which would be
 * missing without a word, and for the name, of which a half would be missing.
 */
const TELLING: Partial<Readonly<Record<FieldName, ReadonlySet<string>>>> = {
  name: wordsOf('apellido apellidos sobrenome surname lastname'),
  phone: PHONE,
  platform: wordsOf('plataforma platform'),
  currency: wordsOf('moneda divisa currency moeda'),
};
/** Words for money: what stands below them is an amount, however small. */
const MONEY = wordsOf(
  'ingreso ingresos salario sueldo income salary wage renda deuda debt divida saldo monto',
);

/** Words that say nothing of a column, in English, Spanish and Portuguese. */
const FILLERS = /\b(de|del|la|el|las|los|su|y|of|the|your|and|da|do|das|dos|seu|e|em)\b/g;
/** The word for a number, as people shorten it before another word. */
const NUMBER = /^(?:n o|no|n|nr|nro|num|numero)(?= .)/;

/** True for a likely spelling of the field, besides its documented names. */
export function isLikely(field: FieldName, simple: string): boolean {
  if (field === 'phone') {
    const words = simple.split(' ');
    return (
      words.some((one) => PHONE.has(one)) && words.every((one) => PHONE.has(one) || BESIDE_PHONE.has(one))
    );
  }
  return LIKELY[field].includes(simple);
}

/** The field that a column without a field may be meant for, by a word of its simplified name; null for none. */
export function fieldMeantBy(simple: string): FieldName | null {
  const words = simple.split(' ');
  const found = Object.entries(TELLING).find(([, telling]) => words.some((word) => telling.has(word)));
  return found === undefined ? null : (found[0] as FieldName);
}

/** True for the simplified name of a column with amounts. */
export function namesMoney(simple: string): boolean {
  return simple.split(' ').some((word) => MONEY.has(word));
}

/** The name in lower case, without accents, invisible characters and filler words, with one space between its words. */
export function simplify(name: string): string {
  return name
    .replaceAll('°', 'o')
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .replace(FILLERS, ' ')
    .replace(/ +/g, ' ')
    .trim()
    .replace(NUMBER, 'numero')
    .replace(/\bwhats app\b/, 'whatsapp');
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}
