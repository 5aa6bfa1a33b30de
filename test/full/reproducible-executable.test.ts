import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { runProgram } from '../../src/kit/command.ts'

let directory: string
let hyperkube: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hyperkube-'))
  hyperkube = inject('executable')
})
afterAll(async () => rm(directory, { recursive: true, force: true }))

test('a build from another directory has the same bytes', async () => {
  const root = join(import.meta.dirname, '../..')
  const copy = join(directory, 'copy')
  for (const name of ['src', 'scripts', 'examples', 'tsconfig.json', 'package.json', 'package-lock.json'])
    await cp(join(root, name), join(copy, name), { recursive: true })
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  const script = `const { buildExecutable } = await import('./scripts/executable.ts')
    console.log(await buildExecutable('${process.platform}-${process.arch}', process.cwd()))`
  const { stdout } = await runProgram([process.execPath, '--input-type=module', '--eval', script], {
    cwd: copy,
    env: { PATH: process.env['PATH'] },
  })
  const [one, other] = [await readFile(hyperkube), await readFile(stdout.trim())]
  expect(one.equals(other)).toBe(true)
})
