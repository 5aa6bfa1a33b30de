import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { assert, asyncProperty, integer, tuple } from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signContent } from '../kit/signature.ts'
import { tarEntrySize, tarFile } from '../bundle/tar.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { encodeSnapshot } from './archive.ts'
import { formatSnapshotManifest, type SnapshotManifest } from './manifest.ts'
import { checkSnapshot, openSnapshot } from './open.ts'
import { saveSnapshot } from './save.ts'
import {
  buildDatabase,
  buildMemberObservation,
  createSnapshotDirectory,
  snapshotKeys,
  snapshotSpec,
  splitIntoPieces,
  testTrust,
} from './testing/fixtures.ts'

const { signal } = new AbortController()
const database = buildDatabase(5)

let directory: Awaited<ReturnType<typeof createSnapshotDirectory>>
let manifest: SnapshotManifest
let complete: Buffer

beforeAll(async () => {
  directory = await createSnapshotDirectory()
  manifest = await save(directory.at('shop.snapshot'), database)
  complete = await readFile(directory.at('shop.snapshot'))
})
afterAll(async () => directory[Symbol.asyncDispose]())

async function save(file: string, content: Buffer): Promise<SnapshotManifest> {
  return saveSnapshot(file, snapshotSpec, {
    client: {
      countKeys: async () => ({ revision: 1234, keys: 321 }),
      database: () => splitIntoPieces(content, 1000),
    },
    observed: buildMemberObservation({ id: 'a', isLeader: true }, { id: 'b' }),
    progress: () => undefined,
    signal,
  })
}

/** Yields chunks whose boundaries do not match those of the files in the archive. */
async function* chunked(bytes: Uint8Array, size = 1000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function readErrorCode(bytes: Uint8Array): Promise<string> {
  return checkSnapshot(chunked(bytes), testTrust).then(
    () => 'none',
    (error: unknown) => (error instanceof HyperkubeError ? error.code : String(error)),
  )
}

test('the manifest matches its golden file and is the first file of the snapshot', async () => {
  await expect(formatSnapshotManifest(manifest)).toMatchFileSnapshot('testdata/snapshot.v1.json')
  expect(await checkSnapshot(chunked(complete), testTrust)).toEqual(manifest)
  expect(complete.subarray(0, 13).toString()).toBe('snapshot.json')
})

test('only the owner can read a snapshot file, and no temporary file remains', async () => {
  expect((await stat(directory.at('shop.snapshot'))).mode & 0o777).toBe(0o600)
  expect(await readdir(directory.at('.'))).toEqual(['shop.snapshot'])
})

test('the tar program lists and extracts a snapshot', () => {
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

test('an opened snapshot returns the saved files and database', async () => {
  const snapshot = await openSnapshot(chunked(complete, 7), testTrust)
  expect(snapshot.small).toEqual(snapshotSpec.small)
  expect(Buffer.concat(await Array.fromAsync(snapshot.database)).equals(database)).toBe(true)
})

test('a flipped bit at any position is detected', async () => {
  await assert(
    asyncProperty(
      tuple(integer({ min: 0, max: complete.length - 1 }), integer({ min: 0, max: 7 })),
      async ([at, bit]) => {
        const bytes = Buffer.from(complete)
        bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at)
        expect(await readErrorCode(bytes)).toMatch(/^SNAPSHOT_(CORRUPT|TRUNCATED)$/)
      },
    ),
    { numRuns: 500 },
  )
})

test('a snapshot truncated at any position is reported as truncated', async () => {
  await assert(
    asyncProperty(integer({ min: 0, max: complete.length - 1 }), async (length) => {
      expect(await readErrorCode(complete.subarray(0, length))).toBe('SNAPSHOT_TRUNCATED')
    }),
    { numRuns: 200 },
  )
})

test('extra data after the end, and a file that is not a snapshot, are reported as corrupt', async () => {
  expect(await readErrorCode(Buffer.concat([complete, Buffer.alloc(512)]))).toBe('SNAPSHOT_CORRUPT')
  expect(await readErrorCode(database)).toBe('SNAPSHOT_CORRUPT')
})

test('a snapshot of another cluster is refused', async () => {
  const other = { ...testTrust, id: '00000000-0000-4000-8000-000000000000' }
  await expect(checkSnapshot(chunked(complete), other)).rejects.toMatchObject({ code: 'SNAPSHOT_FOREIGN' })
  const wrongKey = async () => {
    throw new HyperkubeError('IDENTITY_WRONG_KEY', 'the identity was sealed with another key')
  }
  await expect(checkSnapshot(chunked(complete), { id: undefined, open: wrongKey })).rejects.toMatchObject({
    code: 'SNAPSHOT_FOREIGN',
  })
})

test('a snapshot can be checked with its key alone, without the cluster id', async () => {
  expect(await checkSnapshot(chunked(complete), { ...testTrust, id: undefined })).toEqual(manifest)
})

test('a snapshot signed with another key is refused', async () => {
  const otherKeys = generateKeyPairSync('ed25519')
  const content = {
    manifest: { ...manifest, keys: 1 },
    small: snapshotSpec.small,
    database: chunked(database),
  }
  const forged = Buffer.concat(await Array.fromAsync(encodeSnapshot(content, otherKeys.privateKey)))
  expect(await readErrorCode(forged)).toBe('SNAPSHOT_CORRUPT')
})

test('a snapshot of a later format version is refused', async () => {
  const text = Buffer.from(formatSnapshotManifest(manifest).replace('hyperkube.dev/v1', 'hyperkube.dev/v2'))
  const rest = complete.subarray(
    tarEntrySize(Buffer.byteLength(formatSnapshotManifest(manifest))) + tarEntrySize(64),
  )
  const later = Buffer.concat([
    ...tarFile('snapshot.json', text),
    ...tarFile('snapshot.sig', signContent(text, snapshotKeys.privateKey)),
    rest,
  ])
  expect(await readErrorCode(later)).toBe('CONTRACT_VERSION')
})

test('an incomplete database leaves no snapshot file', async () => {
  const file = directory.at('half.snapshot')
  await expect(save(file, database.subarray(0, -40))).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_WHOLE' })
  expect(await readdir(directory.at('.'))).toEqual(['shop.snapshot'])
})
