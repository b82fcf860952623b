/** Writes texts in code pages, and names to write. */
import { type CodePage, decodeCodePage } from '../src/read/encoding/encoding.ts';

const HIGH_BYTES = Array.from({ length: 128 }, (_, index) => 0x80 + index);

/** The characters of the bytes from 0x80 on. */
export function highHalf(page: CodePage): string {
  return decodeCodePage(Buffer.from(HIGH_BYTES).toString('latin1'), page);
}

/** The bytes of a text; null where the code page has no such character. */
export function inCodePage(text: string, page: CodePage): Buffer | null {
  const high = highHalf(page);
  const bytes = Array.from(text, (sign) => {
    const code = sign.charCodeAt(0);
    if (code < 0x80) return code;
    const place = high.indexOf(sign);
    return place < 0 ? null : 0x80 + place;
  });
  return bytes.includes(null) ? null : Buffer.from(bytes as number[]);
}

/** Names and cities as applicants have them, and a few from elsewhere. */
export const NAMES: readonly string[] =
  `Zoë|Müller|Schröder|SCHRÖDER|Åberg|François|FRANÇOIS|O’Neil|D’Angelo|D´Angelo|Anaïs|Noël|NOËL|Citroën|Gràcia|Núria|Iñaki
  Íñigo|ÍÑIGO|Ñáñez|Güiza|Güell|Begoña|BEGOÑA|García|GARCÍA|NUñEZ|José|JOSÉ|JOSé|María|MARÍA|João|JOÃO|Conceição|CONCEIÇÃO
  Gonçalves|GONÇALVES|São Paulo|SÃO PAULO|Brasília|BRASÍLIA|Antônio|Vinícius|Leitão|LEITÃO|Guimarães|Camões|Simões|SIMÕES
  Araújo|Corrêa|Lourenço|LOURENÇO|Mendonça|Bogotá|BOGOTÁ|Medellín|MEDELLÍN|Cúcuta|Ibagué|IBAGUÉ|Popayán|Tunja|Barragán
  BARRAGÁN|Farfán|Pabón|PABÓN|Muñetón|MUÑETÓN|Cañón|CAÑÓN|Ávila|ÁVILA|Úbeda|ÚBEDA|Évora|Éder|ÉDER|Íngrid|Yépez|YÉPEZ|Tobón
  Tibú|Neiva|Sincé|Tolú|Nariño|NARIÑO|Boyacá|Chocó|CHOCÓ|Caquetá|Guainía|Vaupés|Atlántico|Bolívar|BOLÍVAR|Acuña|Briceño
  Zúñiga|ZÚÑIGA|Piñeros|Peñaloza|Ocaña|Jamundí|Yumbo|Pácora|Supía|Quinchía|Belálcazar|Támesis|Jericó|Sonsón|Señor|Año
  pingüino|Agüero|ARGÜELLO|Argüello|Mayagüez|Belém|Ceará|Amapá|Goiânia|Rondônia|Amazônia|Niterói|Criciúma|Chapecó|Jundiaí
  Taubaté|Marília|Araçatuba|Avaré|Mauá|André|Cubatão|Itanhaém|Peruíbe|Ribeirão|Brandão|Falcão|Galvão|Beltrão|Assunção|Rocío
  Pérez-Núñez|Ana María Ñáñez|O'Núñez|MICHAËL|RAFAËL|JOËL|AARÓN|Dell’Acqua`
    .split(/[|\n]/)
    .map((name) => name.trim());
