import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProgram } from '../src/kit/command.ts'

/** Files from which an executable starts without compiling the program again. */
export interface CompiledBundle {
  /** The script that Node runs. It runs the program with its compiled code. */
  readonly loader: string
  /** The program as one function expression. */
  readonly program: string
  /** Compiled code of all functions that the recorded commands called. */
  readonly code: string
}

/** Names of the files inside the executable. */
export const programAsset = 'program.js'
export const codeAsset = 'program.code'

/**
 * Command lines that load most of the program. Node's own code cache contains only functions that run at once, and
 * the others would be compiled at every start.
 */
const recordedCommands: readonly (readonly string[])[] = [
  ['init', '--file', 'cluster.yml', '--host', 'root@192.0.2.1=control-plane', '--no-input'],
  ['validate', '--file', 'cluster.yml'],
  ['up', '--help'],
  ['agent', '--help'],
  ['controller-manager', '--help'],
  ['apiserver-proxy', '--help'],
  ['agent-call', '--help'],
]

/** Runs the bundle of hyperkube and saves the code that V8 has compiled meanwhile. */
export async function compileBundle(bundle: string, work: string): Promise<CompiledBundle> {
  const [program, code] = [join(work, programAsset), join(work, codeAsset)]
  const [loader, recorder] = [join(work, 'loader.cjs'), join(work, 'recorder.cjs')]
  const source = await readFile(bundle, 'latin1')
  if (/[^\0-\x7f]/.test(source)) throw new Error(`${bundle} has characters outside ASCII`)
  await writeFile(program, `(function (exports, require, module, __filename, __dirname) {${source}\n})`)
  await writeFile(loader, loaderScript)
  await writeFile(recorder, recorderScript)
  const directory = await mkdtemp(join(tmpdir(), 'hyperkube-record-'))
  try {
    await runProgram([process.execPath, recorder, program, code, JSON.stringify(recordedCommands)], {
      cwd: directory,
      env: { HOME: directory, XDG_CONFIG_HOME: directory, XDG_STATE_HOME: directory },
    })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
  return { loader, program, code }
}

/** The source is ASCII, so one byte is one character. V8 ignores compiled code of another V8 version. */
const loaderScript = `
const { getRawAsset } = require('node:sea')
const { Script } = require('node:vm')
const script = new Script(Buffer.from(getRawAsset('${programAsset}')).latin1Slice(), {
  filename: 'hyperkube',
  cachedData: Buffer.from(getRawAsset('${codeAsset}')),
})
script.runInThisContext()(exports, require, module, __filename, __dirname)
`

/** Runs each command when the previous one has ended. A failed command fails the recording. */
const recorderScript = `
const { readFileSync, writeFileSync } = require('node:fs')
const { Script } = require('node:vm')
const [program, code, list] = process.argv.slice(2)
const commands = JSON.parse(list)
const script = new Script(readFileSync(program, 'latin1'), { filename: 'hyperkube' })
const run = script.runInThisContext()
const next = () => {
  if (process.exitCode) return
  const command = commands.shift()
  if (command === undefined) return writeFileSync(code, script.createCachedData())
  process.argv = [process.execPath, 'hyperkube', ...command]
  run({}, require, module, __filename, __dirname)
  // Node emits the event again only if the event loop has run since.
  process.once('beforeExit', () => setImmediate(next))
}
next()
`
