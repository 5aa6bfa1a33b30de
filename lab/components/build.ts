import { copyFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Argv, run } from '../../src/kit/command.ts'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { keep } from '../cache.ts'
import type { Report } from '../report.ts'
import { type Part, type Program, partId } from './parts.ts'
import {
  type Arch,
  cBuild,
  goBuild,
  goEnvironment,
  moduleDirectory,
  programFile,
  recipeKey,
} from './recipe.ts'

export interface BuiltPart {
  readonly part: Part
  readonly arch: Arch
  /** Holds one file per program. */
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

/** Builds what is not in the cache yet, one part after the other: each one already uses all cores. */
export async function buildEngine(parts: readonly Part[], options: BuildOptions): Promise<BuiltPart[]> {
  const compiler = (await run(['go', 'env', 'GOVERSION'])).stdout.trim()
  const built: BuiltPart[] = []
  for (const part of parts) built.push(await buildPart(part, compiler, options))
  return built
}

async function buildPart(part: Part, compiler: string, options: BuildOptions): Promise<BuiltPart> {
  const arch = machineArch()
  const key = await recipeKey(part, arch, compiler)
  const name = `${partId(part)}-${arch}-${key}`
  const directory = await keep(join(options.cache, 'engine', name), async (unfinished) => {
    await options.report.step(`build ${partId(part)}`, async (note) => compile(part, arch, unfinished, note))
  }).catch((cause: unknown) => {
    throw new HyperkubeError('ENGINE_PART_FAILED', 'the part could not be built', {
      component: partId(part),
      cause,
    })
  })
  return { part, arch, directory }
}

async function compile(part: Part, arch: Arch, into: string, note: (text: string) => void): Promise<void> {
  let packages = 0
  const options = {
    cwd: moduleDirectory(part),
    env: { ...process.env, ...goEnvironment(part, arch) },
    onLine: (line: string) => note(`${++packages} packages, ${line}`),
  }
  const commands: readonly Argv[] = part.language === 'c' ? await cCommands(part, into) : goBuild(part, into)
  for (const command of commands) await run(command, options)
  for (const file of part.files ?? []) {
    await copyFile(join(await moduleSource(part), file), join(into, basename(file)))
  }
}

async function cCommands(part: Part, into: string): Promise<Argv[]> {
  const source = await moduleSource(part)
  return part.programs.map((program) =>
    cBuild(part, join(source, program.from), join(into, programFile(part, program))),
  )
}

/** Where the sources of Kubernetes are. */
async function moduleSource(part: Part): Promise<string> {
  const cwd = moduleDirectory(part)
  await run(['go', 'mod', 'download', 'k8s.io/kubernetes'], { cwd })
  return (await run(['go', 'list', '-m', '-f', '{{.Dir}}', 'k8s.io/kubernetes'], { cwd })).stdout.trim()
}

/** What a built program says of its own version. */
export async function reportedVersion(built: BuiltPart, program: Program): Promise<string> {
  const file = join(built.directory, programFile(built.part, program))
  const { stdout, stderr } = await run([file, ...program.ask], { allowFailure: true })
  return `${stdout}${stderr}`.trim()
}
