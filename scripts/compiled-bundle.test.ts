import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runProgram } from '../src/kit/command.ts'
import { compileBundle } from './compiled-bundle.ts'

let work = ''
beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'hyperkube-bundle-'))
})
afterEach(async () => rm(work, { recursive: true }))

async function compile(source: string): ReturnType<typeof compileBundle> {
  const bundle = join(work, 'bundle.cjs')
  await writeFile(bundle, source)
  return compileBundle(bundle, work)
}

/**
 * Loads compiled code as the executable does. A new process is needed, because V8 rejects code that was
 * compiled by a process with other flags. Another test may have set a flag in this process.
 */
async function isRejected(program: string, code: string): Promise<string> {
  const script = `
    const { readFileSync } = require('node:fs')
    const [, program, code] = process.argv
    const options = { filename: 'hyperkube', cachedData: readFileSync(code) }
    const script = new (require('node:vm').Script)(readFileSync(program, 'latin1'), options)
    console.log(script.cachedDataRejected)`
  const { stdout } = await runProgram([process.execPath, '--eval', script, program, code], { env: {} })
  return stdout.trim()
}

test('the compiled code contains functions that run later, and V8 accepts it', async () => {
  const source = (text: string): string => `const later = () => { ${text} }; setImmediate(later)`
  const [small, large] = [
    source('return 1'),
    source('const list = [1, 2, 3].map((n) => n * n); return list.at(0)'),
  ]
  const { code: smallCode } = await compile(small)
  const smallSize = (await readFile(smallCode)).length
  const { program, code } = await compile(large)
  const cachedData = await readFile(code)
  expect(cachedData.length).toBeGreaterThan(smallSize)
  expect(await isRejected(program, code)).toBe('false')
})

test('every command is run, one after the other', async () => {
  const file = join(work, 'commands')
  await compile(`require('node:fs').appendFileSync(${JSON.stringify(file)}, process.argv[2] + ' ')`)
  const commands = (await readFile(file, 'utf8')).trim().split(' ')
  expect(commands).toEqual(expect.arrayContaining(['init', 'up', 'agent', 'agent-call']))
})

test('a command that fails stops the build', async () => {
  const compiling = compile(
    `if (process.argv[2] === 'init') { process.exitCode = 1; console.error('no keys') }`,
  )
  await expect(compiling).rejects.toThrow('no keys')
})

test('a bundle with characters that the loader would misread is refused', async () => {
  await expect(compile(`const dot = '${String.fromCharCode(0x2022)}'`)).rejects.toThrow('outside ASCII')
})
