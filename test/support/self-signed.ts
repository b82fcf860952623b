/** A certificate for 127.0.0.1 and its key, made on demand, for tests that need real TLS. */
import { generateKeyPairSync, sign } from 'node:crypto';

/** PEM; a client that trusts the certificate takes it as its authority. */
export function selfSigned(): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid('2a8648ce3d040302'));
  const name = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from('stand-in')))));
  const validity = sequence(utcTime('250101000000Z'), utcTime('491231235959Z'));
  const alternativeName = der(0x04, sequence(der(0x87, Buffer.from([127, 0, 0, 1]))));
  const certificate = sequence(
    der(0xa0, integer(2)),
    integer(1),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(oid('551d11'), alternativeName))),
  );
  const signed = sequence(
    certificate,
    algorithm,
    der(0x03, Buffer.concat([Buffer.of(0), sign('sha256', certificate, privateKey)])),
  );
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${signed.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}

const sequence = (...parts: Buffer[]) => der(0x30, Buffer.concat(parts));
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const integer = (value: number) => der(0x02, Buffer.of(value));
const utcTime = (text: string) => der(0x17, Buffer.from(text));
