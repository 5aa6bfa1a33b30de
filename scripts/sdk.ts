import { globSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import packageFile from '../package.json' with { type: 'json' }
import { runProgram } from '../src/kit/command.ts'
import { pruneDeclarations } from './declarations.ts'

/** Entry points of the npm package, by their name in `exports` of package.json. */
export const sdkEntries: Readonly<Record<string, string>> = {
  '.': 'src/sdk/hyperkube.ts',
  './contract': 'src/sdk/contract.ts',
  './client': 'src/sdk/client.ts',
  './kube': 'src/sdk/kube.ts',
}

const root = join(import.meta.dirname, '..')
/** The committed report of everything that the types of the package contain. */
export const apiReport = join(root, 'src/sdk/api-report.txt')

/** Emits the declarations of the entry points and of all that their types use, by path. */
export async function emitDeclarations(): Promise<ReadonlyMap<string, string>> {
  const directory = await mkdtemp(join(tmpdir(), 'sdk-types-'))
  try {
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    await runProgram([
      process.execPath,
      tsc,
      '-p',
      join(root, 'tsconfig.sdk.json'),
      '--outDir',
      directory,
      '--singleThreaded',
    ])
    const paths = globSync('**/*.d.ts', { cwd: directory })
    const texts = paths.map(async (path) => [path, await readFile(join(directory, path), 'utf8')] as const)
    const entries = Object.values(sdkEntries).map((entry) => entry.replace(/\.ts$/, '.d.ts'))
    return pruneDeclarations(new Map(await Promise.all(texts)), entries)
  } finally {
    await rm(directory, { recursive: true })
  }
}

/** Renders the report. A change of it is a change of the API of the package. */
export function renderApiReport(declarations: ReadonlyMap<string, string>): string {
  const sections = [...declarations].map(([path, text]) => `==== ${path}\n${text}`)
  return `${reportHeader}\n${sections.join('\n')}`
}

const reportHeader = `All types that users of the npm package can see, from the declarations of src/sdk.
Written by \`npm run sdk -- --report\`; \`npm run check\` fails if it is not up to date.
`

/** Builds JavaScript and declarations of the package into a directory. */
export async function buildSdk(directory: string, declarations: ReadonlyMap<string, string>): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  await build({
    // Comments in the output name the modules relative to this directory.
    absWorkingDir: root,
    entryPoints: Object.values(sdkEntries).map((entry) => join(root, entry)),
    outdir: directory,
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node22',
    format: 'esm',
    // Users share the dependencies, above all the schemas of zod.
    packages: 'external',
    chunkNames: 'chunks/[name]-[hash]',
    logLevel: 'error',
  })
  for (const [path, text] of declarations) {
    const file = join(directory, 'types', path.replace(/^src\//, ''))
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
}

/** Writes everything that the npm package contains into a directory. */
export async function stagePackage(
  directory: string,
  declarations: ReadonlyMap<string, string>,
): Promise<void> {
  await buildSdk(join(directory, 'dist/sdk'), declarations)
  await writeFile(join(directory, 'package.json'), `${JSON.stringify(buildManifest(), undefined, 2)}\n`)
  for (const file of ['README.md', 'LICENSE']) await copyFile(join(root, file), join(directory, file))
}

/**
 * Returns package.json of the npm package: that of the repository without what only developers need, such as
 * packages with Node's executable.
 */
export function buildManifest() {
  const { name, version, description, license, files, type, exports, dependencies, engines } = packageFile
  return { name, version, description, license, files, type, exports, dependencies, engines }
}

/** Returns the value of `exports` in package.json. */
export function buildExports(): Record<string, unknown> {
  const entries = Object.entries(sdkEntries).map(([name, source]) => {
    const base = source.replace(/^src\/sdk\/(.*)\.ts$/, '$1')
    return [name, { types: `./dist/sdk/types/sdk/${base}.d.ts`, default: `./dist/sdk/${base}.js` }] as const
  })
  return { ...Object.fromEntries(entries), './package.json': './package.json' }
}

if (import.meta.main) {
  const declarations = await emitDeclarations()
  if (process.argv.includes('--report')) await writeFile(apiReport, renderApiReport(declarations))
  else await buildSdk(join(root, 'dist/sdk'), declarations)
}
