import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { fileExists } from '../../src/kit/files.ts'
import { runProgram } from '../../src/kit/command.ts'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { type Part, parts, type Program } from './parts.ts'
import { moduleDirectory } from './recipe.ts'

/**
 * Modules whose patch version the Go module proxy does not have, each with the version that replaces it. Only
 * the conformance suite uses these modules.
 */
const unavailableModules: Readonly<Record<string, string>> = {
  'k8s.io/sample-apiserver v0.33.13': 'v0.33.4',
  'k8s.io/sample-apiserver v0.34.10': 'v0.34.4',
}

/**
 * Writes the go.mod and go.sum that pin a version of an upstream component (part), based on a version that is
 * already pinned. Copies the godebug and replace directives of upstream's go.mod, because Go ignores them in
 * a dependency.
 */
export async function pinVersion(name: string, version: string, { force = false } = {}): Promise<string> {
  const known = parts.find((part) => part.name === name && part.module.startsWith(`${name}/`))
  if (known === undefined) {
    throw new HyperkubeError('UNKNOWN_PART', `there is no part ${name}`, {
      hint: 'npm run lab -- components --list',
    })
  }
  const directory = join(moduleDirectory(known), '..', version)
  if (!force && (await fileExists(directory))) {
    throw new HyperkubeError('PIN_EXISTS', `${name} ${version} is pinned already`, {
      hint: `npm run lab -- pin ${name} ${version} --force`,
    })
  }
  const { tools, tests } = listPrograms(known)
  const modules = await listModules(known, tools)
  const upstream = await Promise.all(
    modules.map(async (module) => readFile(await downloadGoMod(module, version), 'utf8')),
  )
  await mkdir(directory, { recursive: true })
  await rm(join(directory, 'go.sum'), { force: true })
  await writeFile(
    join(directory, 'go.mod'),
    [
      `module hyperkube.dev/lab/${name}\n`,
      'go 1.26.0\n',
      ...upstream.flatMap((goMod) => listGodebugLines(goMod)),
      formatBlock(
        'require',
        modules.map((module) => `${module} ${version}`),
      ),
      formatBlock(
        'replace',
        upstream.flatMap((goMod) => listReplacements(goMod, version)),
      ),
      formatBlock(
        'tool',
        tools.map(({ from }) => from),
      ),
    ].join('\n'),
  )
  // With -e, Go ignores unavailable modules, which only upstream's own tests need.
  await runProgram(['go', 'mod', 'tidy', '-e'], { cwd: directory })
  for (const { from } of tests)
    await runProgram(['go', 'get', '-t', `${from}@${version}`], { cwd: directory })
  return directory
}

/** Lists all programs that are built from the part's go.mod: tools and compiled tests. */
function listPrograms(known: Part): { tools: readonly Program[]; tests: readonly Program[] } {
  const same = parts.filter(({ module }) => module === known.module)
  const unique = (selected: readonly Part[]): Program[] => {
    const byPackage = selected
      .flatMap(({ programs }) => programs)
      .map((program) => [program.from, program] as const)
    return [...new Map(byPackage).values()]
  }
  return {
    tools: unique(same.filter(({ language }) => language === 'go')),
    tests: unique(same.filter(({ language }) => language === 'go-test')),
  }
}

/**
 * Lists the modules of the programs that have the same version as the part. Staging modules have other
 * versions, so they are left out.
 */
async function listModules(known: Part, tools: readonly Program[]): Promise<string[]> {
  const packages = tools.map(({ from }) => from)
  // With -e, `go list` also reports the modules of packages for another OS, such as Windows.
  const format = '{{.Module.Path}} {{.Module.Version}}'
  const { stdout } = await runProgram(['go', 'list', '-e', '-f', format, ...packages], {
    cwd: moduleDirectory(known),
  })
  const modules = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' '))
  return [...new Set(modules.flatMap(([path = '', version]) => (version === known.version ? [path] : [])))]
}

function formatBlock(verb: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${verb} (\n${lines.map((line) => `\t${line}\n`).join('')})\n`
}

async function downloadGoMod(module: string, version: string): Promise<string> {
  const { stdout } = await runProgram(['go', 'mod', 'download', '-json', `${module}@${version}`])
  return z.object({ GoMod: z.string() }).parse(JSON.parse(stdout)).GoMod
}

/**
 * Lists upstream's godebug directives. They are copied, because Go ignores the directives of a dependency.
 * Without them, an older minor would behave like the newer Go version that builds it.
 */
export function listGodebugLines(goMod: string): string[] {
  return [...goMod.matchAll(/^godebug .+$/gm)].map(([line]) => `${line}\n`)
}

/**
 * Lists upstream's replace directives. Kubernetes replaces its staging modules with local paths; this
 * function replaces these paths with the published versions v0.X.Y. Other local paths are dropped, because
 * they exist only in upstream's checkout.
 */
export function listReplacements(goMod: string, version: string): string[] {
  const staged = new Set([...goMod.matchAll(/^\s*(\S+) v0\.0\.0$/gm)].map(([, module]) => module))
  return [...goMod.matchAll(/^(?:replace\s+|\t)(\S+(?: v\S+)?) => (\S+)(?: (v\S+))?/gm)].flatMap(
    ([, from = '', to = '', at]) => {
      if (!to.startsWith('.')) return [`${from} => ${to}${at === undefined ? '' : ` ${at}`}`]
      if (!staged.has(from)) return []
      const staging = version.replace(/^v1\./, 'v0.')
      return [`${from} => ${from} ${unavailableModules[`${from} ${staging}`] ?? staging}`]
    },
  )
}
