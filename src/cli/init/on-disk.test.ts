import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLocalFiles } from '../environment/local-files.ts'
import { runHyperkube, type CliResult } from '../testing/run-in-memory.ts'

let directory = ''
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hyperkube-init-'))
})
afterEach(async () => rm(directory, { recursive: true }))

async function init(args: string): Promise<CliResult> {
  const file = join(directory, 'cluster.yml')
  const options = { files: createLocalFiles(), configDirectory: join(directory, 'config') }
  return runHyperkube(`init --name shop --host 10.0.0.1=control-plane -f ${file} ${args}`.trim(), {}, options)
}

async function mode(...path: string[]): Promise<string> {
  return ((await stat(join(directory, ...path))).mode & 0o777).toString(8)
}

test('only the owner can read the key, its directories and the identity', async () => {
  expect((await init('')).code).toBe(0)
  expect((await readdir(directory)).toSorted()).toEqual(['cluster.identity', 'cluster.yml', 'config'])
  const directories = [['config'], ['config', 'hyperkube'], ['config', 'hyperkube', 'keys']]
  for (const path of directories) expect(await mode(...path)).toBe('700')
  expect(await mode('config', 'hyperkube', 'keys', 'shop.key')).toBe('600')
  expect(await mode('cluster.identity')).toBe('600')
  expect(await mode('cluster.yml')).toBe('644')
})

test('existing directories keep their mode', async () => {
  await mkdir(join(directory, 'config'), { mode: 0o755 })
  expect((await init('')).code).toBe(0)
  expect([await mode('config'), await mode('config', 'hyperkube')]).toEqual(['755', '700'])
})

test('--key in a missing directory is an error, and the directory is not created', async () => {
  const { code, stderr } = await init(`--key ${join(directory, 'stick', 'shop.key')}`)
  expect(code).toBe(1)
  expect(stderr).toContain('IDENTITY_KEY_NOT_WRITTEN')
  expect(await readdir(directory)).toEqual([])
})

test('if the identity cannot be written, the hint repeats the command with --key', async () => {
  const blocked = {
    ...createLocalFiles(),
    privateFiles: { ...createLocalFiles().privateFiles, create: failAt('cluster.identity') },
  }
  const key = join(directory, 'shop.key')
  const file = join(directory, 'cluster.yml')
  const args = `init --name shop --host 10.0.0.1=control-plane -f ${file} --key ${key}`
  const failed = await runHyperkube(args, {}, { files: blocked })
  expect(failed).toMatchObject({ code: 1, stdout: '' })
  expect(failed.stderr).toContain(`the key was written; to continue, run the same command with --key ${key}`)
  expect(await runHyperkube(args, {}, { files: createLocalFiles() })).toMatchObject({ code: 0 })
})

function failAt(suffix: string): (path: string, text: string) => Promise<void> {
  return async (path, text) => {
    if (path.endsWith(suffix)) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    return createLocalFiles().privateFiles.create(path, text)
  }
}
