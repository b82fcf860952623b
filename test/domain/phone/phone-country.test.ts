import assert from 'node:assert/strict';
import { it } from 'node:test';
import { countryOfPhone } from '../../../src/domain/phone/phone.ts';

it('the calling code decides the country; where several countries share the code, the number decides', () => {
  const cases: [phone: string, country: string | null][] = [
    ['+573001234567', 'CO'],
    ['+57', 'CO'],
    ['+525512345678', 'MX'],
    ['+5215512345678', 'MX'],
    ['+5511912345678', 'BR'],
    ['+595981123456', 'PY'],
    ['+56912345678', 'CL'],
    ['+12125550123', 'US'],
    ['+14165550123', 'CA'],
    ['+18092345678', 'DO'],
    ['+17872345678', 'PR'],
    ['+18762345678', 'JM'],
    ['+19992345678', 'US'],
    ['+79161234567', 'RU'],
    ['+77012345678', 'KZ'],
    ['+447400123456', 'GB'],
    ['+59996712345', 'CW'],
    ['+24740123', 'SH'],
    ['+2908123', 'SH'],
    ['+38344123456', null],
    ['+80012345678', null],
    ['+99912345678', null],
    ['+990000000001', null],
  ];
  for (const [phone, country] of cases) assert.equal(countryOfPhone(phone), country, phone);
});
