import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, win32 } from 'node:path'
import type { BuiltPart } from '../components/build.ts'
import { kindOf } from '../components/flags.ts'
import { partId } from '../components/parts.ts'
import { programFile } from '../components/recipe.ts'
import { importsOf, isOfWindows, librariesNamed } from './libraries.ts'
import { standIn, standInName } from './prng-library.ts'
import type { Wine } from './wine.ts'

/** What was seen of one of upstream's programs for Windows. */
export interface GoProgram {
  readonly part: string
  readonly name: string
  /** Where it is in Wine. */
  readonly path: string
  /** What it says of its version in Wine; nothing when it has no such question, or does not start. */
  readonly version?: string
  /** What its end was, where it does not start. */
  readonly failure?: string
  /** Libraries without which Windows does not start it, and those that it asks for by itself. */
  readonly imports: readonly string[]
  readonly asks: readonly string[]
  /** Of its imports, what no Windows Server 2022 has. */
  readonly foreign: readonly string[]
  /** Texts in it that may be names of libraries, and are none that we know. */
  readonly unknown: readonly string[]
}

/** Programs of Go then start. */
export async function putStandIn({ place }: Pick<Wine, 'place'>): Promise<void> {
  await writeFile(place(`C:\\windows\\system32\\${standInName}`), standIn())
}

/** Brings the programs of a part to a directory of its own, and looks at each of them. */
export async function tryPrograms(
  wine: Pick<Wine, 'place' | 'run'>,
  { part, directory }: BuiltPart,
): Promise<GoProgram[]> {
  const engine = `C:\\engine\\${partId(part)}`
  await mkdir(wine.place(engine), { recursive: true })
  const seen: GoProgram[] = []
  for (const program of part.programs) {
    const file = join(directory, programFile(part, program))
    const path = win32.join(engine, programFile(part, program))
    await copyFile(file, wine.place(path))
    const bytes = await readFile(file)
    const imports = importsOf(bytes)
    const { known, unknown } = librariesNamed(bytes)
    const asks = known.filter((name) => !imports.includes(name))
    const { code, stdout, stderr } = await wine.run([path, ...program.ask], { allowFailure: true })
    // Plugins and runners have no such question; that they start and complain is all that they can show.
    const started = !/^fatal error: |^panic: /m.test(stderr) && code < 128
    const [line = ''] = `${stdout}\n${stderr}`.trim().split(/\r?\n/)
    seen.push({
      part: partId(part),
      name: program.name,
      path,
      ...(started ? { version: line } : { failure: line === '' ? `it ended with ${code}` : line }),
      imports,
      asks,
      foreign: imports.filter((name) => !isOfWindows(name)),
      unknown,
    })
  }
  return seen
}

/** What became of the flags of a command line. */
export interface FlagCheck {
  readonly program: string
  /** Whether the program itself was asked for each, or each was looked for among its texts, because it does not start. */
  readonly by: 'asking' | 'reading'
  readonly flags: readonly string[]
  readonly missing: readonly string[]
}

/** Whether a program takes the flags of a command line; --help ends it before it does anything. */
export async function checkFlags(
  { run, place }: Pick<Wine, 'run' | 'place'>,
  { name, path, failure }: GoProgram,
  args: readonly string[],
): Promise<FlagCheck> {
  const flags = args.map((one) => /^--?([a-z][\w-]*)/.exec(one)?.[1] ?? '').filter((one) => one !== '')
  if (failure !== undefined) {
    const bytes = await readFile(place(path))
    return { program: name, by: 'reading', flags, missing: flags.filter((flag) => !bytes.includes(flag)) }
  }
  const missing: string[] = []
  for (const flag of flags) {
    const { stdout, stderr } = await run([path, `--${flag}=`, '--help'], { allowFailure: true })
    if (kindOf(stdout + stderr) === undefined) missing.push(flag)
  }
  return { program: name, by: 'asking', flags, missing }
}
