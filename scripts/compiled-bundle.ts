import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type Argv, runProgram } from '../src/kit/command.ts'

/** Files of a program that starts without being compiled again. */
export interface CompiledProgram {
  /** The program as one function expression. */
  readonly program: string
  /** Compiled code of all functions that the recorded commands called. */
  readonly code: string
}

/**
 * Commands of services. The executable contains a separate program for each of them. With the whole program,
 * a service would keep the source and the compiled code of all other commands in memory.
 */
export const serviceCommands = ['agent', 'apiserver-proxy', 'controller-manager'] as const

/**
 * Returns the names of a program's files inside the executable. `command` is one of `serviceCommands`;
 * undefined means the whole program.
 */
export function nameAssets(command?: string): CompiledProgram {
  const name = command === undefined ? 'program' : `program-${command}`
  return { program: `${name}.js`, code: `${name}.code` }
}

/**
 * Command lines that load most of the program, so that V8 compiles most functions. Node's own code cache
 * contains only functions that run while the program is loaded. All other functions would be compiled at
 * every start.
 */
const recordedCommands: readonly (readonly string[])[] = [
  // `init` would create random keys, and the bits of a key decide which functions decode it.
  ['init', '--help'],
  ['validate', '--file', join(import.meta.dirname, '../examples/single.yml')],
  ['up', '--help'],
  ['agent', '--help'],
  ['controller-manager', '--help'],
  ['apiserver-proxy', '--help'],
  ['agent-call', '--help'],
]

/**
 * Flags with which V8 always produces the same code, and for each the flag that restores its default. Without
 * garbage collection, padding between objects is zero and no code is dropped. Sparkplug would mark functions
 * that it compiles in the background. V8 rejects code that was saved with other flags than the defaults, but
 * it ignores the random seed.
 */
const recorderFlags: readonly (readonly [flag: string, restored: string])[] = [
  ['--min-semi-space-size=256', '--min-semi-space-size=0'],
  ['--max-semi-space-size=256', '--max-semi-space-size=0'],
  ['--initial-heap-size=2000', '--initial-heap-size=0'],
  ['--initial-old-space-size=2000', '--initial-old-space-size=0'],
  ['--no-memory-reducer', '--memory-reducer'],
  ['--no-incremental-marking', '--incremental-marking'],
  ['--no-flush-bytecode', '--flush-bytecode'],
  ['--no-sparkplug', '--sparkplug'],
]

export interface CompileOptions {
  /** Node that runs the bundle. Default: the one that runs this script. */
  readonly node?: Argv
  readonly commands?: readonly (readonly string[])[]
}

/** Runs commands of a hyperkube bundle and saves the code that V8 has compiled for these commands. */
export async function compileBundle(
  bundle: string,
  work: string,
  { node = [process.execPath], commands = recordedCommands }: CompileOptions = {},
): Promise<CompiledProgram> {
  const name = basename(bundle, '.cjs')
  const [program, code] = [join(work, `${name}.js`), join(work, `${name}.code`)]
  const recorder = join(work, 'recorder.cjs')
  const source = await readFile(bundle, 'latin1')
  if (/[^\0-\x7f]/.test(source)) throw new Error(`${bundle} has characters outside ASCII`)
  await writeFile(program, `(function (exports, require, module, __filename, __dirname) {${source}\n})`)
  await writeFile(recorder, recorderScript)
  const directory = await mkdtemp(join(tmpdir(), 'hyperkube-record-'))
  const flags = ['--random-seed=1', ...recorderFlags.map(([flag]) => flag)]
  try {
    await runProgram([...node, ...flags, recorder, program, code, JSON.stringify(commands)], {
      cwd: directory,
      env: { HOME: directory, XDG_CONFIG_HOME: directory, XDG_STATE_HOME: directory },
    })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
  return { program, code }
}

/**
 * The script that Node runs. It runs the program of the command with its compiled code. It reads the source
 * as Latin-1, because the source is ASCII and each byte is one character. V8 ignores code that another V8
 * version compiled.
 */
export const loaderScript = `
const { getRawAsset } = require('node:sea')
const { Script } = require('node:vm')
const command = process.argv[2]
const name = ${JSON.stringify(serviceCommands)}.includes(command) ? 'program-' + command : 'program'
const script = new Script(Buffer.from(getRawAsset(name + '.js')).latin1Slice(), {
  filename: 'hyperkube',
  cachedData: Buffer.from(getRawAsset(name + '.code')),
})
script.runInThisContext()(exports, require, module, __filename, __dirname)
`

/** Runs each command when the previous one has ended. A failed command fails the recording. */
const recorderScript = `
const { readFileSync, writeFileSync } = require('node:fs')
const { setFlagsFromString } = require('node:v8')
const { Script } = require('node:vm')
const [program, code, list] = process.argv.slice(2)
const commands = JSON.parse(list)
const script = new Script(readFileSync(program, 'latin1'), { filename: 'hyperkube' })
const run = script.runInThisContext()
const next = () => {
  if (process.exitCode) return
  const command = commands.shift()
  if (command === undefined) {
    for (const flag of ${JSON.stringify(recorderFlags.map(([, restored]) => restored))}) setFlagsFromString(flag)
    return writeFileSync(code, script.createCachedData())
  }
  process.argv = [process.execPath, 'hyperkube', ...command]
  run({}, require, module, __filename, __dirname)
  // Node emits the event again only if the event loop has run since.
  process.once('beforeExit', () => setImmediate(next))
}
next()
`
