import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Argv } from '../../src/kit/command.ts'
import { type Part, type Program, selectParts } from './parts.ts'

/** Processor architecture, as Go and upstream's download sites name it. */
export type Arch = 'amd64' | 'arm64'

const modules = join(import.meta.dirname, 'go')

export function moduleDirectory(part: Part): string {
  return join(modules, part.module)
}

export function formatProgramFile(part: Part, program: Program): string {
  return part.os === 'windows' ? `${program.name}.exe` : program.name
}

/** Short digest of everything that a build of this part depends on; part of the cache directory's name. */
export async function computeRecipeKey(part: Part, arch: Arch, compiler: string): Promise<string> {
  const hash = createHash('sha256')
  hash.update(
    JSON.stringify([
      part,
      arch,
      compiler,
      listGoBuildCommands(part, 'out'),
      buildCCommand(part, 'source', 'out'),
    ]),
  )
  if (part.language !== 'go-module')
    for (const file of ['go.mod', 'go.sum']) hash.update(await readFile(join(moduleDirectory(part), file)))
  for (const one of listIncluded(part)) hash.update(await computeRecipeKey(one, arch, compiler))
  return hash.digest('hex').slice(0, 12)
}

/** Lists the parts whose programs are copied beside those of this part. */
export function listIncluded({ includes = [] }: Pick<Part, 'includes'>): readonly Part[] {
  return includes.length === 0 ? [] : selectParts(includes)
}

export function goEnvironment(part: Part, arch: Arch): Record<string, string> {
  return {
    GOFLAGS: '',
    GOTOOLCHAIN: 'local',
    GOOS: part.os,
    GOARCH: arch,
    CGO_ENABLED: part.cgo ? '1' : '0',
    // The compiler collects garbage less often: a sixth less processor time, for more memory.
    GOGC: '400',
  }
}

/**
 * Lists the commands that build a part into a directory. One command builds all programs that have Go's
 * default file name.
 */
export function listGoBuildCommands(part: Part, into: string): readonly Argv[] {
  const verb = part.language === 'go-test' ? ['test', '-c', '-vet=off'] : ['build', '-v']
  const tags = part.tags.length === 0 ? [] : [`-tags=${part.tags.join(',')}`]
  const mode = part.language === 'go-module' ? ['-mod=mod'] : []
  // The linker drops debug information, so the compiler need not generate it.
  const compiler = '-gcflags=all=-dwarf=false'
  const linker = `-ldflags=${formatLinkerFlags(part)}`
  const flags = ['-trimpath', '-buildvcs=false', ...mode, compiler, linker, ...tags]
  const build = (output: string, packages: readonly string[]): Argv => [
    'go',
    ...verb,
    ...flags,
    '-o',
    output,
    ...packages,
  ]
  const natural = part.programs.filter(({ name, from }) => basename(from) === name)
  const renamed = part.programs.filter((program) => !natural.includes(program))
  return [
    ...(natural.length === 0
      ? []
      : [
          build(
            `${into}/`,
            natural.map(({ from }) => from),
          ),
        ]),
    ...renamed.map((program) => build(join(into, formatProgramFile(part, program)), [program.from])),
  ]
}

function formatLinkerFlags(part: Part): string {
  const stamps = Object.entries(part.stamps).map(([variable, value]) => `-X ${variable}=${value}`)
  const linking = part.cgo ? ['-linkmode external', '-extldflags -static'] : []
  return ['-s', '-w', ...linking, ...stamps].join(' ')
}

export function buildCCommand(part: Part, source: string, into: string): Argv {
  return ['gcc', '-Os', '-Wall', '-Werror', '-static', `-DVERSION=${part.version}`, '-o', into, source]
}
