import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runProgram } from '../src/kit/command.ts'
import { serviceCommands } from './compiled-bundle.ts'
import { bundleProgram } from './executable.ts'

let work = ''
beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'hyperkube-executable-'))
})
afterEach(async () => rm(work, { recursive: true }))

test.each(serviceCommands)('the program of %s runs it and contains no other command', async (command) => {
  const bundle = join(work, 'bundle.cjs')
  await bundleProgram(bundle, { entry: 'src/main.ts', node: 24, command })
  const { stdout } = await runProgram([process.execPath, bundle, command, '--help'])
  expect(stdout).toContain(`Usage: hyperkube ${command}`)
  expect(await readFile(bundle, 'latin1')).not.toContain('hyperkube init --host')
})
