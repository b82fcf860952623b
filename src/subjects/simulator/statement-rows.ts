/**
 * The lines of earnings statements of made-up platforms, which no real platform's statement looks like. Pure.
 * docs/documents.md has their form ("Layouts").
 */

/** The ids of the layouts that the program has. */
export const STATEMENT_LAYOUTS = [
  'rodar-co-1',
  'entrega-ya-mx-1',
  'corre-mais-br-1',
  'moto-va-pe-1',
  'pedalea-cl-1',
  'llego-ya-ar-1',
] as const;
export type StatementLayout = (typeof STATEMENT_LAYOUTS)[number];

/** What a statement says. */
export interface Statement {
  /** The id of a layout. */
  readonly layout: StatementLayout;
  readonly name: string;
  readonly idNumber: string;
  /** The day on which it was made: `2026-11-12`. */
  readonly issued: string;
  /** The amounts by month: `2026-08`. */
  readonly months: Readonly<Record<string, number>>;
}

const SPANISH =
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre'.split(' ');
const PORTUGUESE =
  'janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro'.split(' ');

/** A row: one cell, or the cells of several columns. */
export type Row = readonly string[];

/** How the statements of a platform look. */
interface Form {
  /** The lines before the months. `day` is the day of issue in numbers, `date` in words. */
  readonly head: (of: Record<'name' | 'idNumber' | 'day' | 'date', string>) => readonly Row[];
  /** The text of a month; `index` begins with 0. */
  readonly month: (index: number, year: string) => string;
  readonly amount: (amount: number) => string;
  readonly total: string;
  /** Absent: each month also has a number of trips. */
  readonly hasNoTrips?: true;
}

const INVENTED = 'Empresa inventada';
const FORMS: Readonly<Record<StatementLayout, Form>> = {
  'rodar-co-1': {
    head: ({ name, idNumber, day }) => [
      ['Rodar Colombia S.A.S.', INVENTED],
      ['CERTIFICADO DE INGRESOS'],
      [`Conductor: ${name}`],
      [`Documento: CC ${idNumber}`],
      [`Fecha de expedición: ${day}`],
      ['Ingresos por mes'],
      ['Mes', 'Viajes', 'Ingresos netos'],
    ],
    month: (index, year) => `${capital(SPANISH[index])} de ${year}`,
    amount: (amount) => `$ ${money(amount, '.', ',')}`,
    total: 'Total del periodo',
  },
  'entrega-ya-mx-1': {
    head: ({ name, idNumber, date }) => [
      ['Entrega Ya, S.A. de C.V.', INVENTED],
      ['CONSTANCIA DE GANANCIAS DEL REPARTIDOR'],
      ['Nombre del repartidor', name],
      ['CURP', idNumber],
      [`Emitida el ${date}`],
      ['Mes', 'Pedidos', 'Ganancias (MXN)'],
    ],
    month: (index, year) => `${SPANISH[index]?.slice(0, 3)} ${year}`,
    amount: (amount) => `$${money(amount, ',', '.')}`,
    total: 'Suma',
  },
  'corre-mais-br-1': {
    head: ({ name, idNumber, day }) => [
      ['Corre Mais Entregas Ltda.', INVENTED],
      ['INFORME DE RENDIMENTOS DO ENTREGADOR'],
      [`Nome do entregador: ${name}`],
      [`CPF: ${idNumber}`],
      [`Data de emissão: ${day}`],
      ['Rendimentos mensais'],
    ],
    month: (index, year) => `${PORTUGUESE[index]}/${year}`,
    amount: (amount) => `R$ ${money(amount, '.', ',')}`,
    total: 'Total',
    hasNoTrips: true,
  },
  'moto-va-pe-1': {
    head: ({ name, idNumber, day }) => [
      ['Moto Va Perú S.A.C.', INVENTED],
      ['REPORTE DE GANANCIAS DEL CONDUCTOR'],
      [`Conductor: ${name}`],
      [`DNI: ${idNumber}`],
      [`Fecha de emisión: ${day}`],
      ['Ganancias por mes'],
      ['Mes', 'Viajes', 'Ganancia neta'],
    ],
    month: (index, year) => `${capital(SPANISH[index]).replace('Septiembre', 'Setiembre')} ${year}`,
    amount: (amount) => `S/ ${money(amount, ',', '.')}`,
    total: 'Total',
  },
  'pedalea-cl-1': {
    head: ({ name, idNumber, date }) => [
      ['Pedalea Chile SpA', INVENTED],
      ['CERTIFICADO DE HONORARIOS'],
      [`Repartidor: ${name}`],
      [`RUT: ${idNumber}`],
      [`Emitido el ${date}`],
      ['Honorarios por mes'],
      ['Mes', 'Pedidos', 'Líquido'],
    ],
    month: (index, year) => `${SPANISH[index]} ${year}`,
    // Chile's pesos have no decimals.
    amount: (amount) => `$ ${Math.round(amount).toLocaleString('en-US').replaceAll(',', '.')}`,
    total: 'Total',
  },
  'llego-ya-ar-1': {
    head: ({ name, idNumber, day }) => [
      ['Llego Ya Argentina S.R.L.', INVENTED],
      ['RESUMEN DE INGRESOS DEL REPARTIDOR'],
      [`Apellido y nombre: ${name}`],
      [`CUIL: ${idNumber}`],
      [`Fecha: ${day}`],
      ['Ingresos mensuales'],
      ['Período', 'Envíos', 'Neto'],
    ],
    month: (index, year) => `${String(index + 1).padStart(2, '0')}/${year}`,
    amount: (amount) => `$ ${money(amount, '.', ',')}`,
    total: 'Total',
  },
};

/** The rows of a statement, as they stand in the PDF. */
export function statementRows({ layout, name, idNumber, issued, months }: Statement): Row[] {
  const { head, month: monthOf, amount: amountOf, total, hasNoTrips } = FORMS[layout];
  const [year = '', month = '', day = ''] = issued.split('-');
  const date = `${Number(day)} de ${SPANISH[Number(month) - 1]} de ${year}`;
  const rows = Object.entries(months).map(([one, amount], index) => {
    const [ofYear = '', number = ''] = one.split('-');
    const trips = hasNoTrips ? '' : String(190 + index * 7);
    return [monthOf(Number(number) - 1, ofYear), trips, amountOf(amount)];
  });
  const sum = Object.values(months).reduce((all, amount) => all + amount, 0);
  const who = { name, idNumber, day: `${day}/${month}/${year}`, date };
  return [...head(who), ...rows, [total, '', amountOf(sum)]];
}

/** Two decimals, with these marks for thousands and decimals. */
function money(amount: number, thousands: string, decimal: string): string {
  const text = amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return text.replace(/[,.]/g, (mark) => (mark === ',' ? thousands : decimal));
}

function capital(word = ''): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
