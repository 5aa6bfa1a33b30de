import { chmod, copyFile, cp, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { type Argv, runProgram } from '../../src/kit/command.ts'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { ensureCached } from '../cache.ts'
import type { Report } from '../report.ts'
import { type Part, type Program, formatPartId } from './parts.ts'
import {
  type Arch,
  buildCCommand,
  listGoBuildCommands,
  listIncluded,
  goEnvironment,
  moduleDirectory,
  formatProgramFile,
  computeRecipeKey,
} from './recipe.ts'

export interface BuiltPart {
  readonly part: Part
  readonly arch: Arch
  /** Directory with one file per program. */
  readonly directory: string
}

export interface BuildOptions {
  readonly cache: string
  readonly report: Report
}

export function machineArch(): Arch {
  if (process.arch === 'x64') return 'amd64'
  if (process.arch === 'arm64') return 'arm64'
  throw new HyperkubeError('LAB_ARCH', `the lab does not run on ${process.arch}`, {
    hint: 'use a machine with an x64 or arm64 processor',
  })
}

/**
 * Builds the upstream components (parts) that are not in the cache. They are built one after the other,
 * because each build uses all cores.
 */
export async function buildComponents(parts: readonly Part[], options: BuildOptions): Promise<BuiltPart[]> {
  const compiler = (await runProgram(['go', 'env', 'GOVERSION'])).stdout.trim()
  const built: BuiltPart[] = []
  for (const part of parts) built.push(await buildPart(part, compiler, options))
  return built
}

async function buildPart(part: Part, compiler: string, options: BuildOptions): Promise<BuiltPart> {
  const arch = machineArch()
  const included: BuiltPart[] = []
  for (const one of listIncluded(part)) included.push(await buildPart(one, compiler, options))
  const key = await computeRecipeKey(part, arch, compiler)
  const name = `${formatPartId(part)}-${arch}-${key}`
  const directory = await ensureCached(join(options.cache, 'engine', name), async (unfinished) => {
    await options.report.step(`build ${formatPartId(part)}`, async (note) =>
      compile(part, arch, unfinished, note),
    )
    for (const one of included) await cp(one.directory, unfinished, { recursive: true })
  }).catch((cause: unknown) => {
    throw new HyperkubeError('COMPONENT_BUILD_FAILED', 'the part could not be built', {
      component: formatPartId(part),
      cause,
    })
  })
  return { part, arch, directory }
}

async function compile(part: Part, arch: Arch, into: string, note: (text: string) => void): Promise<void> {
  if (part.language === 'go-module') {
    await compileInModule(part, arch, into, note)
    return
  }
  let packages = 0
  const options = {
    cwd: moduleDirectory(part),
    env: { ...process.env, ...goEnvironment(part, arch) },
    onLine: (line: string) => note(`${++packages} packages, ${line}`),
  }
  const commands: readonly Argv[] =
    part.language === 'c' ? await listCBuildCommands(part, into) : listGoBuildCommands(part, into)
  for (const command of commands) await runProgram(command, options)
  for (const file of part.files ?? []) {
    await copyFile(join(await findModuleSource(part, part.filesFrom), file), join(into, basename(file)))
  }
  for (const [script, name] of Object.entries(part.scripts ?? {})) {
    await copyFile(join(await findModuleSource(part, part.filesFrom), script), join(into, name))
    await chmod(join(into, name), 0o755)
  }
}

/**
 * Builds a part inside of a copy of its module. Go checks the module with its checksum database, and the
 * dependencies with the go.sum of the module. The copy is writable, because Go may complete that file.
 */
async function compileInModule(
  part: Part,
  arch: Arch,
  into: string,
  note: (text: string) => void,
): Promise<void> {
  const { stdout } = await runProgram(['go', 'mod', 'download', '-json', `${part.module}@${part.version}`])
  const { Dir } = z.object({ Dir: z.string() }).parse(JSON.parse(stdout))
  const source = join(into, '.source')
  try {
    await cp(Dir, source, { recursive: true })
    await runProgram(['chmod', '-R', 'u+w', source])
    const options = { cwd: source, env: { ...process.env, ...goEnvironment(part, arch) }, onLine: note }
    for (const command of listGoBuildCommands(part, into)) await runProgram(command, options)
  } finally {
    await rm(source, { recursive: true, force: true })
  }
}

async function listCBuildCommands(part: Part, into: string): Promise<Argv[]> {
  const source = await findModuleSource(part)
  return part.programs.map((program) =>
    buildCCommand(part, join(source, program.from), join(into, formatProgramFile(part, program))),
  )
}

/** Downloads the sources of a Go module and returns their directory. */
async function findModuleSource(part: Part, module = 'k8s.io/kubernetes'): Promise<string> {
  const cwd = moduleDirectory(part)
  await runProgram(['go', 'mod', 'download', module], { cwd })
  return (await runProgram(['go', 'list', '-m', '-f', '{{.Dir}}', module], { cwd })).stdout.trim()
}

/** Runs a built program and returns the version that it prints. */
export async function readReportedVersion(built: BuiltPart, program: Program): Promise<string> {
  const file = join(built.directory, formatProgramFile(built.part, program))
  const { stdout, stderr } = await runProgram([file, ...program.ask], { allowFailure: true })
  return `${stdout}${stderr}`.trim()
}
