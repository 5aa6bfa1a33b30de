import { execFileSync } from 'node:child_process'
import { link, lstat, mkdir, mkdtemp, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type Arbitrary, array, assert, asyncProperty, constantFrom, nat, option, record } from 'fast-check'
import { expect, test } from 'vitest'
import { HyperkubeError } from '../../../kit/errors.ts'
import { byteMutation, mutationRuns, printMutations } from '../../../kit/testing/mutations.ts'
import { runHostCommand } from '../command.ts'
import { createPathMapper } from '../local-files.ts'
import { createSystemTar } from './system-tar.ts'

const blockSize = 512
const never = new AbortController().signal

/** Fields of a tar header: offset and length. */
const fields = {
  name: [0, 100],
  mode: [100, 8],
  size: [124, 12],
  type: [156, 1],
  link: [157, 100],
  prefix: [345, 155],
} as const

const hostileTexts = [
  '../escaped',
  'bin/../../escaped',
  '../outside/kept',
  'bin/inner/../../../outside/kept',
  './../escaped',
  'bin/link/escaped',
  '..',
  '.',
  '',
  'a\nb',
  '../outside',
  '../../outside',
  'bin',
  'bin/one',
  '0000777\0',
  '7777777\0',
  '00000000001\0',
  '77777777777\0',
  '1',
  '2',
  '3',
  '5',
  '6',
  'L',
  'K',
  'x',
  'g',
  'S',
]

interface HeaderChange {
  readonly entry: number
  readonly field: keyof typeof fields
  readonly text: string
}

const mutation: Arbitrary<(tar: Buffer) => Buffer> = record({
  headers: array(
    record({
      entry: nat(6),
      field: constantFrom('name', 'name', 'link', 'link', 'type', 'type', 'mode', 'size', 'prefix'),
      text: constantFrom(...hostileTexts),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  bytes: option(byteMutation, { freq: 4 }),
}).map(({ headers, bytes }) => (tar) => {
  const changed = Buffer.from(tar)
  const starts = listHeaders(changed)
  for (const change of headers) changeHeader(changed, starts, change)
  for (const start of starts) writeChecksum(changed.subarray(start, start + blockSize))
  return bytes === null ? changed : bytes(changed)
})

function listHeaders(tar: Buffer): number[] {
  return Array.from({ length: tar.length / blockSize }, (_, index) => index * blockSize).filter(
    (start) => tar.toString('latin1', start + 257, start + 262) === 'ustar',
  )
}

function changeHeader(tar: Buffer, starts: readonly number[], { entry, field, text }: HeaderChange): void {
  const [offset, length] = fields[field]
  const start = (starts[entry % starts.length] ?? 0) + offset
  tar.fill(0, start, start + length).write(text.slice(0, length), start, 'latin1')
}

function writeChecksum(header: Buffer): void {
  header.write('        ', 148)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
}

test('a mutated archive writes nothing outside of its directory', { timeout: 300_000 }, async () => {
  const root = await mkdtemp(join(tmpdir(), 'tar-'))
  try {
    const tar = await pack(root)
    const outcomes = new Map<string, number>()
    await assert(
      asyncProperty(mutation, async (mutate) => {
        await rm(join(root, 'host'), { recursive: true, force: true })
        await mkdir(join(root, 'host/into'), { recursive: true })
        await mkdir(join(root, 'host/outside'))
        await writeFile(join(root, 'host/outside/kept'), 'kept')
        await writeFile(join(root, 'host/a.tgz'), gzipSync(mutate(tar), { level: 1 }))
        const outcome = await unpack(join(root, 'host'))
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
        expect(outcome).toMatch(/^(unpacked|APPLY_ARCHIVE_REFUSED|COMMAND_FAILED)$/)
        expect((await readdir(join(root, 'host'))).toSorted()).toEqual(['a.tgz', 'into', 'outside'])
        const kept = await lstat(join(root, 'host/outside/kept'))
        expect([await readdir(join(root, 'host/outside')), kept.size, kept.nlink]).toEqual([['kept'], 4, 1])
        if (outcome === 'unpacked') await expectInside(join(root, 'host/into'))
      }),
      mutationRuns,
    )
    printMutations('archive of a program', outcomes)
    expect(outcomes.size).toBe(3)
  } finally {
    await rm(root, { recursive: true, force: true })
  }
})

async function pack(root: string): Promise<Buffer> {
  const from = join(root, 'from')
  await mkdir(join(from, 'bin/inner'), { recursive: true })
  await writeFile(join(from, 'bin/one'), 'one')
  await writeFile(join(from, 'bin/inner/two'), 'two'.repeat(300))
  await symlink('one', join(from, 'bin/link'))
  await link(join(from, 'bin/one'), join(from, 'bin/same'))
  return execFileSync('tar', ['--format=ustar', '--sort=name', '-C', from, '-cf', '-', 'bin'])
}

async function unpack(host: string): Promise<string> {
  const tar = createSystemTar(createPathMapper(host), runHostCommand)
  return tar.unpack({ path: '/a.tgz', into: '/into', strip: 0 }, never).then(
    () => 'unpacked',
    (error: unknown) => (error instanceof HyperkubeError ? error.code : String(error)),
  )
}

/** Expects only files, directories, and links to paths inside of the directory. */
async function expectInside(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() || entry.isDirectory()) continue
    expect(entry.isSymbolicLink(), path).toBe(true)
    expect(`${resolve(dirname(path), await readlink(path))}/`).toMatch(new RegExp(`^${directory}/`))
  }
}
