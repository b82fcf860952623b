/** How people spell the names of columns, in English, Spanish and Portuguese. */
import type { FieldName } from '../../applications/rules/fields.ts';

/** Spellings besides the documented names, in the form of `simplify`. */
export const LIKELY: Readonly<Record<FieldName, readonly string[]>> = {
  name: ['full name', 'applicant', 'applicant name', 'nombre completo', 'nombres', 'nombres apellidos', 'nombre apellido', 'nombre solicitante', 'solicitante', 'nome', 'nome completo', 'nome sobrenome', 'nome solicitante', 'nome cliente'],
  id_number: ['id', 'national id', 'document', 'document number', 'identification', 'numero cedula', 'nro cedula', 'no cedula', 'cedula ciudadania', 'documento', 'documento identidad', 'numero documento', 'nro documento', 'no documento', 'identificacion', 'numero identificacion', 'dni', 'cpf', 'numero cpf', 'no cpf', 'documento identidade', 'identidade'],
  city: ['city residence', 'ciudad residencia', 'municipio', 'cidade', 'cidade residencia'],
  phone: ['phone number', 'mobile', 'mobile phone', 'mobile number', 'cell phone', 'celular', 'numero celular', 'telefono celular', 'numero telefono', 'movil', 'telefono movil', 'numero movil', 'whatsapp', 'telefone', 'numero telefone', 'telefone celular', 'telemovel'],
  platform: ['app', 'aplicacion', 'aplicativo'],
  currency: ['currency code', 'divisa', 'codigo moneda', 'moeda', 'codigo moeda'],
  income: ['monthly income', 'ingresos', 'ingreso mensual', 'ingresos mensuales', 'renda', 'renda mensal', 'rendimento', 'rendimentos', 'rendimento mensal'],
  debt_amount: ['debt', 'total debt', 'amount debt', 'deuda', 'deuda total', 'monto', 'valor deuda', 'divida', 'divida total', 'valor divida', 'montante divida'],
  num_debts: ['number debts', 'debts', 'numero deudas', 'cantidad deudas', 'deudas', 'numero dividas', 'no dividas', 'quantidade dividas', 'dividas'],
  debt_age: ['age debt', 'antiguedad', 'antiguedad deuda', 'mora', 'tiempo mora', 'tiempo atraso', 'tempo atraso', 'tempo mora', 'tempo divida', 'antiguidade', 'antiguidade divida', 'atraso'],
  prior_history: ['history', 'payment history', 'historial', 'historial pago', 'historial pagos', 'historico', 'historico previo', 'historico anterior', 'historico pagamento', 'historico pagamentos'],
  messaging_optin: ['optin', 'opt in', 'messaging opt in', 'messaging consent', 'consent', 'consentimiento', 'consentimiento mensajes', 'acepta mensajes', 'consentimento', 'consentimento mensagens', 'aceita mensagens'],
}; // biome-ignore format: one table

/** Words that say nothing of a column, in English, Spanish and Portuguese. */
const FILLERS = /\b(de|del|la|el|las|los|y|of|the|and|da|do|das|dos|e|em)\b/g;

/** The name in lower case, without accents and filler words, with one space between its words. */
export function simplify(name: string): string {
  return name
    .replaceAll('°', 'o')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .replace(FILLERS, ' ')
    .replace(/ +/g, ' ')
    .trim();
}
