import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, win32 } from 'node:path'
import type { BuiltPart } from '../components/build.ts'
import { parseFlagKind } from '../components/flags.ts'
import { formatPartId } from '../components/parts.ts'
import { formatProgramFile } from '../components/recipe.ts'
import { readImports, isWindowsLibrary, findLibraryNames } from './libraries.ts'
import { buildPrngLibrary, prngLibraryName } from './prng-library.ts'
import type { Wine } from './wine.ts'

/** Results of running and inspecting one of upstream's Windows programs. */
export interface GoProgram {
  readonly part: string
  readonly name: string
  /** Path in Wine. */
  readonly path: string
  /** First line of the version output in Wine. Undefined if the program does not start. */
  readonly version?: string
  /** First line of the error output, or the exit code, if the program does not start. */
  readonly failure?: string
  /** Libraries in the import table. `runtimeLibraries` are those that the program loads at run time. */
  readonly imports: readonly string[]
  readonly runtimeLibraries: readonly string[]
  /** Imports that Windows Server 2022 does not have. */
  readonly foreign: readonly string[]
  /** Texts that look like library names but do not match a known library. */
  readonly unknown: readonly string[]
}

/** Installs bcryptprimitives.dll, which Go programs need to start in Wine. */
export async function installPrngLibrary({ toLocalPath }: Pick<Wine, 'toLocalPath'>): Promise<void> {
  await writeFile(toLocalPath(`C:\\windows\\system32\\${prngLibraryName}`), buildPrngLibrary())
}

/** Copies the programs of a part to a directory of Wine, then runs and inspects each of them. */
export async function tryGoPrograms(
  wine: Pick<Wine, 'toLocalPath' | 'run'>,
  { part, directory }: BuiltPart,
): Promise<GoProgram[]> {
  const targetDirectory = `C:\\components\\${formatPartId(part)}`
  await mkdir(wine.toLocalPath(targetDirectory), { recursive: true })
  const results: GoProgram[] = []
  for (const program of part.programs) {
    const file = join(directory, formatProgramFile(part, program))
    const path = win32.join(targetDirectory, formatProgramFile(part, program))
    await copyFile(file, wine.toLocalPath(path))
    const bytes = await readFile(file)
    const imports = readImports(bytes)
    const { known, unknown } = findLibraryNames(bytes)
    const runtimeLibraries = known.filter((name) => !imports.includes(name))
    const { code, stdout, stderr } = await wine.run([path, ...program.ask], { allowFailure: true })
    // Some programs, such as CNI plugins, print no version. It is enough that they start and report an error.
    const started = !/^fatal error: |^panic: /m.test(stderr) && code < 128
    const [line = ''] = `${stdout}\n${stderr}`.trim().split(/\r?\n/)
    results.push({
      part: formatPartId(part),
      name: program.name,
      path,
      ...(started ? { version: line } : { failure: line === '' ? `it ended with ${code}` : line }),
      imports,
      runtimeLibraries,
      foreign: imports.filter((name) => !isWindowsLibrary(name)),
      unknown,
    })
  }
  return results
}

/** Result of checking the flags of a command line. */
export interface FlagCheck {
  readonly program: string
  /**
   * `query`: the program was called with each flag. `search`: the program does not start, so its file was
   * searched for each flag.
   */
  readonly method: 'query' | 'search'
  readonly flags: readonly string[]
  readonly missing: readonly string[]
}

/**
 * Checks whether a program accepts the flags of a command line. `--help` makes the program exit before it
 * does anything else.
 */
export async function checkFlags(
  { run, toLocalPath }: Pick<Wine, 'run' | 'toLocalPath'>,
  { name, path, failure }: GoProgram,
  args: readonly string[],
): Promise<FlagCheck> {
  const flags = args
    .map((argument) => /^--?([a-z][\w-]*)/.exec(argument)?.[1] ?? '')
    .filter((argument) => argument !== '')
  if (failure !== undefined) {
    const bytes = await readFile(toLocalPath(path))
    return { program: name, method: 'search', flags, missing: flags.filter((flag) => !bytes.includes(flag)) }
  }
  const missing: string[] = []
  for (const flag of flags) {
    const { stdout, stderr } = await run([path, `--${flag}=`, '--help'], { allowFailure: true })
    if (parseFlagKind(stdout + stderr) === undefined) missing.push(flag)
  }
  return { program: name, method: 'query', flags, missing }
}
