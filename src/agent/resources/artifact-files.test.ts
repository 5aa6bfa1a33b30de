import { chmod, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { HashedFile } from '../../contract/ledger.ts'
import type { HostFiles } from '../host/files.ts'
import { type TemporaryHost, createTemporaryHost } from '../host/testing/temporary-host.ts'
import {
  hashArtifactFiles,
  inspectArtifactFiles,
  artifactManifestName,
  formatArtifactManifest,
  findIntactFiles,
} from './artifact-files.ts'

const directory = '/opt/hyperkube/tools-1'
const sha256 = 'a'.repeat(64)

let host: TemporaryHost & AsyncDisposable
let known: HashedFile[]
let hashed: string[]
let files: HostFiles

beforeEach(async () => {
  host = await createTemporaryHost()
  hashed = []
  files = {
    ...host.files,
    digest: async (path) => {
      hashed.push(path)
      return host.files.digest(path)
    },
  }
  const access = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, mode: 0o755 }
  await files.makeDirectory(`${directory}/bin`, access)
  await files.write(`${directory}/bin/one`, Buffer.from('one'), access)
  await files.write(`${directory}/two`, Buffer.from('two'), access)
  await files.makeLink(`${directory}/three`, 'two')
  const content = await hashArtifactFiles(files, directory)
  await files.write(
    `${directory}/${artifactManifestName}`,
    Buffer.from(formatArtifactManifest(sha256, content)),
    access,
  )
  known = await hashArtifactFiles(files, directory)
  hashed.length = 0
})
afterEach(async () => host[Symbol.asyncDispose]())

const at = (path: string): string => host.toLocalPath(`${directory}/${path}`)

test('files with unchanged metadata are not hashed', async () => {
  expect(known.map(({ path }) => path)).toEqual([artifactManifestName, 'bin/one', 'three', 'two'])
  expect(await inspectArtifactFiles(files, directory, known)).toBe('as-written')
  expect(hashed).toEqual([])
})

test('only a file with changed metadata is hashed, and the same content is no drift', async () => {
  await writeFile(at('two'), 'two')
  expect(await inspectArtifactFiles(files, directory, known)).toBe('as-written')
  expect(hashed).toEqual([`${directory}/two`])
})

test.each([
  ['another content of the same length', async () => writeFile(at('two'), 'TWO'), 'the content of two'],
  ['another file in its place', async () => rename(at('bin/one'), at('two')), 'bin/one is missing'],
  [
    'a link in its place',
    async () => rm(at('two')).then(async () => symlink('bin/one', at('two'))),
    'the mode of two',
  ],
  ['another mode', async () => chmod(at('two'), 0o644), 'the mode of two'],
  ['one file less', async () => rm(at('two')), 'two is missing'],
  ['one file more', async () => writeFile(at('bin/four'), ''), 'unexpected file bin/four'],
  [
    'a link to another target',
    async () => host.files.makeLink(`${directory}/three`, 'bin'),
    'the content of three',
  ],
])('%s is reported', async (_, change, drift) => {
  await change()
  expect(await inspectArtifactFiles(files, directory, known)).toEqual({
    drift: expect.stringContaining(drift),
  })
})

test('a missing directory is absent', async () => {
  await rm(host.toLocalPath(directory), { recursive: true })
  expect(await inspectArtifactFiles(files, directory, known)).toBe('absent')
})

test('a completely unpacked artifact is recognized by its manifest', async () => {
  expect(await findIntactFiles(files, directory, sha256)).toEqual(known)
  expect(await findIntactFiles(files, directory, 'b'.repeat(64))).toBeUndefined()
  const manifest = await readFile(at(artifactManifestName), 'utf8')
  await writeFile(at(artifactManifestName), manifest.slice(0, -10))
  expect(await findIntactFiles(files, directory, sha256)).toBeUndefined()
})

test('an artifact whose files changed is not recognized by its manifest', async () => {
  await writeFile(at('two'), 'TWO')
  expect(await findIntactFiles(files, directory, sha256)).toBeUndefined()
})
