import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { shippedDocument } from '../src/catalog/shipped-catalog.ts'
import stamp from '../src/catalog/shipped-catalog.json' with { type: 'json' }
import { readSignedCatalog } from '../src/catalog/signed-catalog.ts'
import { formatPublicKey } from '../src/kit/signature.ts'
import { digestCatalog, readSigningKey, stampCatalog } from './catalog.ts'

const keys = generateKeyPairSync('ed25519')
let directory: string
let keyFile: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'catalog-'))
  keyFile = join(directory, 'catalog.key')
  await writeFile(keyFile, keys.privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 })
})
afterAll(async () => rm(directory, { recursive: true, force: true }))

test('the catalog of the release has the serial of its content', () => {
  expect(digestCatalog(shippedDocument), 'run: npm run catalog -- stamp').toBe(stamp.sha256)
})

test('a new stamp has a higher serial, with the date if that is possible', () => {
  const serial = (from: number, today: string) =>
    stampCatalog({ ...shippedDocument, serial: from }, today).serial
  expect(serial(2026111702, '2026-11-18')).toBe(2026111801)
  expect(serial(2026111702, '2026-11-17')).toBe(2026111703)
  expect(serial(2026111702, '2025-01-01')).toBe(2026111703)
})

test('a private key that others can read is refused, and so is another kind of key', async () => {
  expect((await readSigningKey(keyFile)).equals(keys.privateKey)).toBe(true)
  for (const mode of [0o640, 0o604, 0o644]) {
    await chmod(keyFile, mode)
    await expect(readSigningKey(keyFile)).rejects.toThrow(`chmod 600 ${keyFile}`)
  }
  await chmod(keyFile, 0o600)
  const other = join(directory, 'ec.key')
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  await writeFile(other, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 })
  await expect(readSigningKey(other)).rejects.toThrow('is not an Ed25519 key')
})

test('the script writes and signs the catalog of the checkout', async () => {
  const run = async (...words: string[]) =>
    promisify(execFile)(process.execPath, [join(import.meta.dirname, 'catalog.ts'), ...words])
  const [document, signed] = [join(directory, 'catalog.json'), join(directory, 'cluster.catalog')]
  await run('write', '--out', document)
  await run('sign', '--key', keyFile, '--in', document, '--out', signed)
  const text = await readFile(signed, 'utf8')
  const read = readSignedCatalog(signed, text, [formatPublicKey(keys.publicKey)])
  expect(read.document).toEqual(shippedDocument)
  await expect(run('sign', '--key', keyFile)).rejects.toThrow('usage:')
})
