import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { assert, asyncProperty, integer, tuple } from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signatureOf } from '../bundle/signature.ts'
import { tarFile, tarSpace } from '../bundle/tar.ts'
import { HyperkubeError } from '../kit/errors.ts'
import {
  databaseOf,
  keys,
  observationOf,
  piecesOf,
  temporaryDirectory,
  trust,
  wish,
} from './testing/fixtures.ts'
import { manifestText, type SnapshotManifest } from './manifest.ts'
import { checkSnapshot, openSnapshot } from './open.ts'
import { saveSnapshot } from './save.ts'
import { snapshotBytes } from './write.ts'

const { signal } = new AbortController()
const database = databaseOf(5)

let directory: Awaited<ReturnType<typeof temporaryDirectory>>
let manifest: SnapshotManifest
let whole: Buffer

beforeAll(async () => {
  directory = await temporaryDirectory()
  manifest = await save(directory.at('shop.snapshot'), database)
  whole = await readFile(directory.at('shop.snapshot'))
})
afterAll(async () => directory[Symbol.asyncDispose]())

async function save(file: string, content: Buffer): Promise<SnapshotManifest> {
  return saveSnapshot(file, wish, {
    client: {
      countKeys: async () => ({ revision: 1234, keys: 321 }),
      database: () => piecesOf(content, 1000),
    },
    observed: observationOf({ id: 'a', leads: true }, { id: 'b' }),
    progress: () => undefined,
    signal,
  })
}

/** In chunks that fit nothing. */
async function* chunked(bytes: Uint8Array, size = 1000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function codeOf(bytes: Uint8Array): Promise<string> {
  return checkSnapshot(chunked(bytes), trust).then(
    () => 'none',
    (error: unknown) => (error instanceof HyperkubeError ? error.code : String(error)),
  )
}

test('what is in a snapshot stands at its front, as it always did', async () => {
  await expect(manifestText(manifest)).toMatchFileSnapshot('testdata/snapshot.v1.json')
  expect(await checkSnapshot(chunked(whole), trust)).toEqual(manifest)
  expect(whole.subarray(0, 13).toString()).toBe('snapshot.json')
})

test('it is for its owner alone, and nothing is left beside it', async () => {
  expect((await stat(directory.at('shop.snapshot'))).mode & 0o777).toBe(0o600)
  expect(await readdir(directory.at('.'))).toEqual(['shop.snapshot'])
})

test('any tar reads it', () => {
  const list = execFileSync('tar', ['-tf', directory.at('shop.snapshot')], { encoding: 'utf8' })
  expect(list.trim().split('\n')).toEqual([
    'snapshot.json',
    'snapshot.sig',
    'cluster.identity',
    'cluster.yml',
    'cluster.lock',
    'etcd.db',
  ])
  const content = execFileSync('tar', ['-xOf', directory.at('shop.snapshot'), 'etcd.db'])
  expect(content.equals(database)).toBe(true)
})

test('it gives back what went in', async () => {
  const snapshot = await openSnapshot(chunked(whole, 7), trust)
  expect(snapshot.small).toEqual(wish.small)
  expect(Buffer.concat(await Array.fromAsync(snapshot.database)).equals(database)).toBe(true)
})

test('a flipped bit anywhere is found', async () => {
  await assert(
    asyncProperty(
      tuple(integer({ min: 0, max: whole.length - 1 }), integer({ min: 0, max: 7 })),
      async ([at, bit]) => {
        const bytes = Buffer.from(whole)
        bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at)
        expect(await codeOf(bytes)).toMatch(/^SNAPSHOT_(CORRUPT|TRUNCATED)$/)
      },
    ),
    { numRuns: 500 },
  )
})

test('a snapshot that ends too early is told as such, wherever it ends', async () => {
  await assert(
    asyncProperty(integer({ min: 0, max: whole.length - 1 }), async (length) => {
      expect(await codeOf(whole.subarray(0, length))).toBe('SNAPSHOT_TRUNCATED')
    }),
    { numRuns: 200 },
  )
})

test('something behind its end, and something that is no snapshot at all', async () => {
  expect(await codeOf(Buffer.concat([whole, Buffer.alloc(512)]))).toBe('SNAPSHOT_CORRUPT')
  expect(await codeOf(database)).toBe('SNAPSHOT_CORRUPT')
})

test('another cluster’s is none of ours', async () => {
  const other = { ...trust, id: '00000000-0000-4000-8000-000000000000' }
  await expect(checkSnapshot(chunked(whole), other)).rejects.toMatchObject({ code: 'SNAPSHOT_FOREIGN' })
  const wrongKey = async () => {
    throw new HyperkubeError('IDENTITY_WRONG_KEY', 'the identity was sealed with another key')
  }
  await expect(checkSnapshot(chunked(whole), { id: undefined, open: wrongKey })).rejects.toMatchObject({
    code: 'SNAPSHOT_FOREIGN',
  })
})

test('who has nothing but the file and its key needs no more', async () => {
  expect(await checkSnapshot(chunked(whole), { ...trust, id: undefined })).toEqual(manifest)
})

test('whoever has the sealed identity alone cannot sign', async () => {
  const others = generateKeyPairSync('ed25519')
  const content = { manifest: { ...manifest, keys: 1 }, small: wish.small, database: chunked(database) }
  const forged = Buffer.concat(await Array.fromAsync(snapshotBytes(content, others.privateKey)))
  expect(await codeOf(forged)).toBe('SNAPSHOT_CORRUPT')
})

test('one of a later release says so', async () => {
  const text = Buffer.from(manifestText(manifest).replace('hyperkube.dev/v1', 'hyperkube.dev/v2'))
  const rest = whole.subarray(tarSpace(Buffer.byteLength(manifestText(manifest))) + tarSpace(64))
  const later = Buffer.concat([
    ...tarFile('snapshot.json', text),
    ...tarFile('snapshot.sig', signatureOf(text, keys.privateKey)),
    rest,
  ])
  expect(await codeOf(later)).toBe('CONTRACT_VERSION')
})

test('a database that does not come as a whole leaves no file', async () => {
  const file = directory.at('half.snapshot')
  await expect(save(file, database.subarray(0, -40))).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_WHOLE' })
  expect(await readdir(directory.at('.'))).toEqual(['shop.snapshot'])
})
