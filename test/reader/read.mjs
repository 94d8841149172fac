// Reads a sealed data directory and a sealed bundle by docs/encryption.md alone: Node's own cryptography, and age.
// node read.mjs DATA BUNDLE PASSPHRASE CODE prints what it found as JSON.
import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Decrypter } from 'age-encryption';

const [data, bundle, passphrase, code] = process.argv.slice(2);

async function age(file, secret) {
  const decrypter = new Decrypter();
  decrypter.addPassphrase(secret);
  return Buffer.from(await decrypter.decrypt(file));
}

const fileKey = (key, salt, purpose) => Buffer.from(hkdfSync('sha256', key, salt, `contextinfinity ${purpose}`, 32));

const aes = (key, block) => {
  const cipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
  return Buffer.concat([cipher.update(block), cipher.final()]);
};

/** XAES-256-GCM: the key of a unit is derived from the first half of its nonce. */
function open(key, unit, kind, number) {
  const mask = aes(key, Buffer.alloc(16));
  const carry = mask[0] >> 7;
  for (let i = 0; i < 16; i++) mask[i] = ((mask[i] << 1) | (i < 15 ? mask[i + 1] >> 7 : 0)) & 0xff;
  if (carry) mask[15] ^= 0x87;
  const half = (n) => {
    const block = Buffer.concat([Buffer.from([0, n, 0x58, 0]), unit.subarray(0, 12)]);
    return aes(key, block.map((byte, i) => byte ^ mask[i]));
  };
  const cipher = createDecipheriv('aes-256-gcm', Buffer.concat([half(1), half(2)]), unit.subarray(12, 24));
  const additional = Buffer.alloc(9);
  additional.write(kind);
  additional.writeBigUInt64LE(BigInt(number), 1);
  cipher.setAAD(additional);
  cipher.setAuthTag(unit.subarray(unit.length - 16));
  return Buffer.concat([cipher.update(unit.subarray(24, unit.length - 16)), cipher.final()]);
}

/** The header of a sealed file, with its checksum verified. */
function header(file, key) {
  const bytes = file.subarray(0, 4096);
  if (bytes.subarray(0, 9).toString() !== 'CINFSEAL\n') throw new Error('not sealed');
  const parsed = JSON.parse(bytes.subarray(9, 4064).toString());
  const salt = Buffer.from(parsed.salt, 'base64');
  const sum = createHmac('sha256', fileKey(key, salt, 'header')).update(bytes.subarray(0, 4064)).digest();
  if (!sum.equals(bytes.subarray(4064))) throw new Error('the checksum of the header is wrong');
  return { unit: parsed.unit, salt };
}

const lock = JSON.parse(readFileSync(join(data, 'lock.json')));
const key = await age(Buffer.from(lock.passphrase, 'base64'), passphrase);
const byCode = await age(Buffer.from(lock.recovery, 'base64'), code);
const id = createHash('sha256').update('contextinfinity key id\n').update(key).digest('hex').slice(0, 16);

const database = readFileSync(join(data, 'contextinfinity.db'));
const { unit, salt } = header(database, key);
const pages = [];
for (let at = 4096, n = 0; at < database.length; at += unit + 40, n++) {
  pages.push(open(fileKey(key, salt, 'database'), database.subarray(at, at + unit + 40), 'd', n));
}
const log = existsSync(join(data, 'contextinfinity.db-wal')) ? readFileSync(join(data, 'contextinfinity.db-wal')) : Buffer.alloc(0);
const frames = [];
for (let at = 32, n = 0; at + 64 + unit + 40 <= log.length; at += 64 + unit + 40, n++) {
  const head = open(fileKey(key, salt, 'log'), log.subarray(at, at + 64), 'w', 2 * n);
  frames.push(Buffer.concat([head, open(fileKey(key, salt, 'log'), log.subarray(at + 64, at + 64 + unit + 40), 'w', 2 * n + 1)]));
}

const streams = readdirSync(join(data, 'streams')).map((name) => {
  const file = readFileSync(join(data, 'streams', name));
  const fromHeader = fileKey(key, header(file, key).salt, `journal ${name}`);
  const records = [];
  for (let at = 4096, n = 0; at < file.length; n++) {
    const size = file.readUInt32LE(at);
    records.push(open(fromHeader, file.subarray(at + 4, at + 4 + size), 'r', n));
    at += 4 + size;
  }
  return Buffer.concat(records).toString();
});

console.log(JSON.stringify({
  id: id === lock.key && byCode.equals(key),
  begins: pages[0].subarray(0, 15).toString(),
  text: Buffer.concat([...pages, ...frames]).toString('latin1'),
  frames: frames.length,
  journals: streams.join('\n'),
  bundle: (await age(readFileSync(bundle), passphrase)).toString('latin1').slice(0, 2),
}));
