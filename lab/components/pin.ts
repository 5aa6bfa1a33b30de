import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { run } from '../../src/kit/command.ts'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { exists } from '../../src/kit/files.ts'
import { type Part, parts, type Program } from './parts.ts'
import { moduleDirectory } from './recipe.ts'

/**
 * Writes the go.mod and go.sum that pin a version of a part, after the pattern of a version that is there.
 * What upstream replaces in its own go.mod is replaced here too, because Go ignores that in a dependency.
 */
export async function pin(name: string, version: string, { force = false } = {}): Promise<string> {
  const known = parts.find((part) => part.name === name && part.module.startsWith(`${name}/`))
  if (known === undefined) {
    throw new HyperkubeError('UNKNOWN_PART', `there is no part ${name}`, {
      hint: 'npm run lab -- engine --list',
    })
  }
  const directory = join(moduleDirectory(known), '..', version)
  if (!force && (await exists(directory))) {
    throw new HyperkubeError('PIN_EXISTS', `${name} ${version} is pinned already`, {
      hint: `npm run lab -- pin ${name} ${version} --force`,
    })
  }
  const { tools, tests } = programsOf(known)
  const modules = await modulesOf(known, tools)
  const upstream = await Promise.all(
    modules.map(async (module) => readFile(await downloadedGoMod(module, version), 'utf8')),
  )
  await mkdir(directory, { recursive: true })
  await rm(join(directory, 'go.sum'), { force: true })
  await writeFile(
    join(directory, 'go.mod'),
    [
      `module hyperkube.dev/lab/${name}\n`,
      'go 1.26.0\n',
      block(
        'require',
        modules.map((module) => `${module} ${version}`),
      ),
      block(
        'replace',
        upstream.flatMap((goMod) => replacements(goMod, version)),
      ),
      block(
        'tool',
        tools.map(({ from }) => from),
      ),
    ].join('\n'),
  )
  // -e: what only upstream's own tests need may not be to be had, and is not needed.
  await run(['go', 'mod', 'tidy', '-e'], { cwd: directory })
  for (const { from } of tests) await run(['go', 'get', '-t', `${from}@${version}`], { cwd: directory })
  return directory
}

/** All that is built from the same go.mod: tools, and tests that are compiled. */
function programsOf(known: Part): { tools: readonly Program[]; tests: readonly Program[] } {
  const same = parts.filter(({ module }) => module === known.module)
  const unique = (wanted: readonly Part[]): Program[] => {
    const byPackage = wanted
      .flatMap(({ programs }) => programs)
      .map((program) => [program.from, program] as const)
    return [...new Map(byPackage).values()]
  }
  return {
    tools: unique(same.filter(({ language }) => language === 'go')),
    tests: unique(same.filter(({ language }) => language === 'go-test')),
  }
}

async function modulesOf(known: Part, tools: readonly Program[]): Promise<string[]> {
  const packages = tools.map(({ from }) => from)
  // -e and Windows packages: a package for another system still says which module it is in.
  const { stdout } = await run(['go', 'list', '-e', '-f', '{{.Module.Path}}', ...packages], {
    cwd: moduleDirectory(known),
  })
  return [...new Set(stdout.trim().split('\n'))]
}

function block(verb: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${verb} (\n${lines.map((line) => `\t${line}\n`).join('')})\n`
}

async function downloadedGoMod(module: string, version: string): Promise<string> {
  const { stdout } = await run(['go', 'mod', 'download', '-json', `${module}@${version}`])
  return z.object({ GoMod: z.string() }).parse(JSON.parse(stdout)).GoMod
}

/**
 * Upstream's replacements. Kubernetes requires its staging folders at v0.0.0 and replaces them by paths; they are
 * published as modules of version v0.X.Y. Other paths only serve upstream's own checkout.
 */
export function replacements(goMod: string, version: string): string[] {
  const staged = new Set([...goMod.matchAll(/^\s*(\S+) v0\.0\.0$/gm)].map(([, module]) => module))
  return [...goMod.matchAll(/^(?:replace\s+|\t)(\S+(?: v\S+)?) => (\S+)(?: (v\S+))?/gm)].flatMap(
    ([, from = '', to = '', at]) => {
      if (!to.startsWith('.')) return [`${from} => ${to}${at === undefined ? '' : ` ${at}`}`]
      return staged.has(from) ? [`${from} => ${from} ${version.replace(/^v1\./, 'v0.')}`] : []
    },
  )
}
