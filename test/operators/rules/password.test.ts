/** Which passwords operators may choose (NIST SP 800-63B, section 3.1.1). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isKnownPassword } from '../../../src/subjects/operators/rules/known-password.ts';
import {
  faultOfPassword,
  faultText,
  LONGEST,
  SHORTEST,
} from '../../../src/subjects/operators/rules/password.ts';

// biome-ignore-start format: lists
/** What people choose where a password has to have twelve characters. */
const ENGLISH = [
  'password1234',
  'password12345',
  'password123!',
  'Password1234!',
  'p@ssw0rd1234',
  'P@ssw0rd2024!',
  'passwordpassword',
  'iloveyou1234',
  'iloveyou12345',
  'iloveyouforever',
  'iloveyou123!',
  'welcome12345',
  'Welcome2024!',
  'Welcome123456',
  'letmein12345',
  'letmeinplease',
  'qwerty123456',
  'qwertyuiop12',
  'qwertyuiop123',
  '1qaz2wsx3edc',
  'zaq12wsxcde3',
  'asdfghjkl123',
  '123456789012',
  '1234567890abc',
  'abcdefghijkl',
  'abcd1234abcd',
  'aaaabbbbcccc',
  '111122223333',
  'admin1234567',
  'administrator',
  'Administrator1',
  'adminadmin12',
  'football1234',
  'baseball1234',
  'liverpool123',
  'manchester123',
  'superman1234',
  'batman123456',
  'pokemon12345',
  'dragon123456',
  'monkey123456',
  'sunshine1234',
  'princess1234',
  'michael12345',
  'jennifer1234',
  'charlie12345',
  'trustno1trustno1',
  'starwars1234',
  'computer1234',
  'internet1234',
  'samsung12345',
  'google123456',
  'summer2024!!',
  'Summer2024!!',
  'January2026!',
  'monday123456',
  'changeme1234',
  'changeit1234',
  'secret123456',
  'hello1234567',
  'helloworld12',
  'thisisapassword',
  'mypassword12',
  'mypassword123',
  'december2025',
  'newyork12345',
  'chelsea12345',
];
const SPANISH_AND_PORTUGUESE = [
  'contraseña123',
  'contrasena1234',
  'contraseña1234',
  'contrasena2024',
  'contraseña2026!',
  'Contrasena123!',
  'micontraseña1',
  'miclave123456',
  'miclavesecreta',
  'claveclave123',
  'clave12345678',
  'claveparaentrar',
  'teamomucho123',
  'teamomiamor123',
  'teamo12345678',
  'teamoteamoteamo',
  'tequieromucho',
  'tequiero12345',
  'miamormiamor1',
  'miamor1234567',
  'amorcito12345',
  'mivida1234567',
  'hermosa123456',
  'princesa12345',
  'princesa12345!',
  'estrella12345',
  'mariposa12345',
  'corazon123456',
  'chocolate1234',
  'alejandra1234',
  'alejandro1234',
  'carolina12345',
  'sebastian1234',
  'santiago12345',
  'valentina1234',
  'guadalupe1234',
  'juancarlos123',
  'mariajose1234',
  'josealberto12',
  'luismiguel123',
  'colombia12345',
  'colombia2024!',
  'colombia2026',
  'bogotacolombia',
  'bogota2026col',
  'medellin12345',
  'mexico1234567',
  'mexico2026!!!',
  'vivamexico123',
  'argentina2022',
  'argentina1234',
  'barcelona1234',
  'realmadrid123',
  'realmadrid1902',
  'bocajuniors12',
  'riverplate123',
  'millonarios12',
  'nacional12345',
  'america123456',
  'chivas1234567',
  'cruzazul12345',
  'administrador',
  'administrador1',
  'administrador123',
  'Administrador2024',
  'bienvenido123',
  'bienvenidos1!',
  'hola123456789',
  'holamundo1234',
  'holahola1234',
  'familia123456',
  'jesucristo123',
  'diosesamor123',
  'diosmio123456',
  'dioseamor1234',
  'jesusteamo123',
  'virgendeguadalupe',
  'senha12345678',
  'senha123456789',
  'minhasenha123',
  'minhasenha1234',
  'suasenha12345',
  'senhasegura1!',
  'brasil1234567',
  'brasil2024123',
  'saopaulo12345',
  'flamengo12345',
  'flamengo2023!',
  'corinthians12',
  'corinthians1910',
  'palmeiras1234',
  'santosfutebol',
  'gremio1234567',
  'euteamo123456',
  'euteamomuito1',
  'teamodemais12',
  'amorzinho1234',
  'minhavida1234',
  'meuamor123456',
  'felicidade123',
  'felicidade2024',
  'deusefiel1234',
  'deusefiel123!',
  'jesusteama123',
  'jesusteama777',
  'familia1234567',
  'borboleta1234',
  'princesinha12',
  'gabriel123456',
  'bemvindo12345',
  'administrador1234',
  'qwerty123456ñ',
  'asdfghjklñ123',
  'ventanilla123',
  'ventanilla2026',
  'Ventanilla1234',
];
/** Real passwords of leaked lists that no word tells. */
const LEAKED = [
  'ghbdtnrfrltkf',
  'justinbieber',
  'ingodwetrust',
  'mortalkombat',
  'nightcrawler',
  'unbelievable',
];
/** Passphrases and random texts. */
const GOOD = [
  'seven wet umbrellas',
  'tres paraguas mojados',
  'cuatro gatos bajo la lluvia',
  'el tren sale a las nueve y media',
  'guarda-chuva azul na janela',
  'os tres porquinhos comem bolo',
  'lampara ventana nube cuchara',
  'caballo correcto grapa bateria',
  'blue kettle sings at dawn',
  'mango ladder frost piano',
  'velvet anchor tulip comet',
  'sobre el puente duerme un gato',
  'nosso gato dorme no telhado',
  'mi abuela cocina arepas azules',
  'quatro pedras no rio verde',
  'x9#Lk2!vQp7z',
  'h7Tz-pQ4w-Lm9x',
  'kD83jfQmZx02',
  'zufe-wamo-tiry-4',
  '9f2c7e1b5a8d',
  'wodka piknik trzy',
  'rio luna pan sal',
  'perro mesa sol 84 rojo',
  'granite otter quietly dancing',
];
// biome-ignore-end format: lists

const faultOf = (password: string, login = 'zoe') => faultOfPassword(password, login, isKnownPassword);

describe('a password', () => {
  it('that others try is refused, in English, Spanish and Portuguese', () => {
    const taken = [...ENGLISH, ...SPANISH_AND_PORTUGUESE, ...LEAKED].filter(
      (one) => faultOf(one) !== 'known',
    );
    assert.deepEqual(taken, []);
  });

  it('of words that have nothing to do with each other is taken, and so is a random one', () => {
    const refused = GOOD.filter((one) => faultOf(one) !== null);
    assert.deepEqual(refused, []);
  });

  it('of 16 random letters and digits is taken', () => {
    const characters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'];
    const sixteen = fc.array(fc.constantFrom(...characters), { minLength: 16, maxLength: 16 });
    // What is drawn at random is drawn evenly: fast-check's own texts would be short words again and again.
    fc.assert(
      fc.property(fc.noBias(sixteen), (letters) => {
        const text = letters.join('');
        return new Set(letters).size < 10 || !isKnownPassword(text, []);
      }),
    );
  });

  it('of words of the person and of the service is refused', () => {
    for (const [password, login] of [
      ['ventanilla2026', 'zoe'],
      ['v3ntan1lla-2026', 'zoe'],
      ['marquez-marquez', 'lucia.marquez@example.com'],
      ['lucialucia2026', 'lucia.marquez@example.com'],
    ] as const)
      assert.equal(faultOf(password, login), 'known', password);
    assert.equal(faultOf('the kite of lucia.m', 'lucia.m'), 'login');
    assert.equal(faultText('login', 'lucia.m'), 'the password must not contain your login, lucia.m');
  });

  it('says so of a login of two or three letters only where it is a word of its own', () => {
    for (const password of ['the banana kite walks', 'mañana en mi ventana verde', 'anabel quiere lluvia'])
      assert.equal(faultOf(password, 'ana'), null, password);
    for (const password of ['the kite of Ana walks', 'kite-ana-walks-9', 'ana, el cometa verde'])
      assert.equal(faultOf(password, 'ana'), 'login', password);
    assert.equal(faultOf('el cometa de a.b anda', 'a.b'), 'login');
    assert.equal(faultOf('mariana tiene un cometa', 'aria'), 'login');
  });

  it('has 12 to 128 code points, and no other rule about characters', () => {
    assert.deepEqual([SHORTEST, LONGEST], [12, 128]);
    assert.equal(faultOf('zq4 kv9 wx1'), 'short');
    assert.equal(faultOf('zq4 kv9 wx17'), null);
    assert.equal(faultOf('\u{1F600}\u{1F680}\u{1F98A}\u{1F34D}'.repeat(2)), 'short');
    assert.equal(faultOf('мокрый зонт семь'), null);
    assert.equal(faultOf('la luna duerme '.repeat(9).slice(0, 129)), 'long');
  });

  it('as long as a request may have is judged soon, whatever it is made of', () => {
    for (const text of ['a', 'password', 'qwerty1', '1qaz', 'ñandú ', '\u0301', '\0']) {
      const password = text.repeat(1_024).slice(0, 128);
      assert.equal(typeof isKnownPassword(password, ['a'.repeat(64)]), 'boolean');
    }
  });
});
