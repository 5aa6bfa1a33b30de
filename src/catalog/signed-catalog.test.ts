import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { HyperkubeError } from '../kit/errors.ts'
import { formatPublicKey } from '../kit/signature.ts'
import { findKubernetesRelease } from './catalog.ts'
import { formatCatalogDocument } from './catalog-document.ts'
import { checkArgs } from './check-args.ts'
import { maxCatalogBytes, readSignedCatalog, signCatalog } from './signed-catalog.ts'
import {
  buildTestCatalog,
  signTestCatalog,
  testCatalogKey,
  testCatalogPublicKey,
  testCatalogSerial,
} from './testing/test-catalog.ts'

const text = signTestCatalog()
const trusted = [testCatalogPublicKey]

function read(content: string, keys: readonly string[] = trusted) {
  return readSignedCatalog('new.catalog', content, keys)
}

function refusal(content: string, keys?: readonly string[]): HyperkubeError {
  try {
    read(content, keys)
  } catch (error) {
    if (error instanceof HyperkubeError) return error
    throw error
  }
  throw new Error('the catalog was accepted')
}

test('a catalog that an earlier release signed is still read', () => {
  const golden = readFileSync(join(import.meta.dirname, 'testdata/v1.catalog'), 'utf8')
  const { catalog } = read(golden)
  expect(catalog.source).toMatchObject({ from: 'file', serial: 2026111701, publicKey: testCatalogPublicKey })
  expect(findKubernetesRelease(catalog, '1.36.9')).toMatchObject({ kubernetes: '1.36.9', etcd: '3.6.16' })
})

test('a signed catalog has its own minors and flags', () => {
  const { catalog } = read(signTestCatalog())
  expect(findKubernetesRelease(catalog, '1.99.7')).toMatchObject({
    etcd: '3.99.1',
    catalog: { from: 'file', serial: testCatalogSerial, publicKey: testCatalogPublicKey },
  })
  const check = (args: Readonly<Record<string, string>>, version: string): readonly string[] =>
    checkArgs(catalog, 'kubelet', args, version, 'linux').map(({ message }) => message)
  expect(check({ 'new-flag': 'true' }, '1.99.3')).toEqual([])
  expect(check({ 'new-flag': 'true' }, '1.37.1')).toEqual(['kubelet 1.37.1 has no flag --new-flag'])
  expect(check({ v: '2' }, '1.99.3')).toEqual([
    '--v was removed in kubelet 1.38; Kubernetes 1.99.3 comes with kubelet 1.99.3',
  ])
})

test('a file without a signature, or with that of another key, is refused', () => {
  const unsigned = formatCatalogDocument(buildTestCatalog())
  expect(refusal(unsigned)).toMatchObject({
    code: 'CATALOG_NOT_TRUSTED',
    message: 'new.catalog is not a signed catalog: its first line has no key and signature',
  })
  expect(refusal('')).toMatchObject({ code: 'CATALOG_NOT_TRUSTED' })
  const other = generateKeyPairSync('ed25519')
  const otherKey = formatPublicKey(other.publicKey)
  const byOther = signCatalog(unsigned, other.privateKey)
  expect(refusal(byOther)).toMatchObject({
    code: 'CATALOG_NOT_TRUSTED',
    message: `new.catalog is signed by the key ${otherKey}, which is not trusted`,
  })
  // A trusted key in the first line does not make the signature of another key valid.
  const renamed = byOther.replace(otherKey, testCatalogPublicKey)
  expect(refusal(renamed)).toMatchObject({
    code: 'CATALOG_NOT_TRUSTED',
    message: `new.catalog was changed after it was signed by the key ${testCatalogPublicKey}`,
  })
  expect(refusal(signTestCatalog(), [])).toMatchObject({ code: 'CATALOG_NOT_TRUSTED' })
})

test('the key and the signature have only one text', () => {
  const [, , , publicKey = '', signature = ''] = text.slice(0, text.indexOf('\n')).split(' ')
  const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  // The last character before = has unused bits, so several texts decode to the same bytes.
  for (const [word, padding] of [
    [publicKey, '='],
    [signature, '=='],
  ] as const) {
    const start = word.slice(0, -padding.length - 1)
    const equal = Array.from(base64)
      .map((last) => `${start}${last}${padding}`)
      .filter((other) => other !== word && Buffer.from(other, 'base64').equals(Buffer.from(word, 'base64')))
    expect(equal.length).toBeGreaterThan(0)
    for (const other of equal)
      expect(refusal(text.replace(word, other), [testCatalogPublicKey, other]).code).toBe(
        'CATALOG_NOT_TRUSTED',
      )
  }
})

test.each<[string, (document: ReturnType<typeof buildTestCatalog>) => unknown, RegExp]>([
  ['an unknown field', (document) => ({ ...document, more: 1 }), /more/],
  ['a newer version', (document) => ({ ...document, apiVersion: 'hyperkube.dev/v9' }), /v9/],
  ['no minor', (document) => ({ ...document, minors: [] }), /minors/],
  [
    'a minor twice',
    (document) => ({ ...document, minors: [...document.minors, ...document.minors] }),
    /twice/,
  ],
  ['a serial of zero', (document) => ({ ...document, serial: 0 }), /serial/],
  [
    'a minor without flags',
    (document) => ({
      ...document,
      flags: { ...document.flags, etcd: { ...document.flags.etcd, changes: [] } },
    }),
    /the flags of etcd 3\.99\.1 are missing/,
  ],
  [
    'a minor without an image',
    (document) => ({ ...document, minors: document.minors.map((minor) => ({ ...minor, images: {} })) }),
    /1\.99 has no image pause/,
  ],
])('a catalog with %s cannot be signed', (_, change, problem) => {
  const changed = JSON.stringify(change(buildTestCatalog()))
  expect(() => signCatalog(changed, testCatalogKey)).toThrow(
    expect.objectContaining({ code: 'CATALOG_NOT_VALID', message: expect.stringMatching(problem) }),
  )
})

test('a catalog that is too large is refused before it is read', () => {
  expect(refusal(signTestCatalog() + ' '.repeat(maxCatalogBytes))).toMatchObject({
    code: 'CATALOG_NOT_VALID',
    message: `new.catalog is larger than ${maxCatalogBytes} bytes`,
  })
})
