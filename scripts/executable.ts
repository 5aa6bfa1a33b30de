import { createReadStream, createWriteStream } from 'node:fs'
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip } from 'node:zlib'
import { build, type Metafile, type Plugin } from 'esbuild'
import { type Argv, runProgram } from '../src/kit/command.ts'
import { createBlankTable, tableAsset } from '../src/contract/release-table.ts'
import { webAssets } from '../src/ui/web-files.ts'
import { compileBundle, loaderScript, nameAssets, serviceCommands } from './compiled-bundle.ts'
import { signMachO } from './executable/mach-o-signature.ts'
import {
  currentTarget,
  findTarget,
  type PreparedRuntime,
  prepareRuntime,
  targets,
} from './executable/runtime.ts'
import { writeReleaseTable } from './executable/write-release-table.ts'
import { bundleInterface } from './ui-bundle.ts'

/** Entry module of an executable. `output` overrides the target's file name. */
export interface ExecutableSource {
  readonly entry: string
  readonly output?: string
}

const hyperkube: ExecutableSource = { entry: 'src/main.ts' }

const root = join(import.meta.dirname, '..')
export const hostScript = join(root, 'src/agent/host/windows/powershell/host.ps1')
const postject = join(root, 'node_modules/postject/dist/cli.js')
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/**
 * Builds the executable for a target and returns its path. `version` defaults to the version in package.json.
 * The same sources always give the same bytes. The table of the release in the executable is blank.
 */
export async function buildExecutable(
  name: string,
  directory: string,
  version?: string,
  program: ExecutableSource = hyperkube,
): Promise<string> {
  const target = findTarget(name)
  await mkdir(directory, { recursive: true })
  // Compiled code depends on the package.json above the working directory, so it is not below `directory`.
  const work = await mkdtemp(join(tmpdir(), 'hyperkube-build-'))
  try {
    const runtime = await prepareRuntime(name, target, work)
    const output = join(directory, program.output ?? target.output)
    const options = { entry: program.entry, node: runtime.major, version }
    const files = await prepareFiles(work, runtime, options)
    if (target.format === 'mach-o') {
      await writeSeaConfig(work, { ...files, output, executable: runtime.executable })
      await runProgram([runtime.builder, '--build-sea', 'sea.json'], { cwd: work })
      await writeFile(output, signMachO(await readFile(output), 'hyperkube'))
    } else {
      await writeSeaConfig(work, { ...files, output: 'blob' })
      await runProgram([runtime.builder, '--experimental-sea-config', 'sea.json'], { cwd: work })
      await copyFile(runtime.executable, output)
      await injectBlob(output, join(work, 'blob'))
    }
    await chmod(output, 0o755)
    return output
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/**
 * Prepares the files inside an executable. Their paths are relative to `work`, because Node stores the path
 * of the program in the executable.
 */
async function prepareFiles(
  work: string,
  runtime: PreparedRuntime,
  options: BundleOptions,
): Promise<Pick<SeaFiles, 'main' | 'assets'>> {
  await bundleProgram(join(work, 'bundle.cjs'), options)
  await copyFile(hostScript, join(work, 'host.ps1'))
  await writeFile(join(work, tableAsset), createBlankTable())
  await bundleInterface(work)
  const { script, style } = webAssets
  const assets = {
    ...{ 'host.ps1': 'host.ps1', [tableAsset]: tableAsset },
    ...{ [script]: script, [style]: style },
  }
  // Compiled code is valid only for the runtime that compiled it. Executables for tests get no compiled code.
  if (runtime.run === undefined || options.entry !== hyperkube.entry) return { main: 'bundle.cjs', assets }
  const compiled = await compilePrograms(work, runtime.run, options)
  return { main: 'loader.cjs', assets: { ...assets, ...compiled } }
}

async function writeSeaConfig(work: string, files: SeaFiles): Promise<void> {
  await writeFile(join(work, 'sea.json'), renderSeaConfig(files))
}

/**
 * Compiles the whole program, and one program for each command of a service. Returns the file of each asset.
 */
async function compilePrograms(
  work: string,
  node: Argv,
  options: BundleOptions,
): Promise<Readonly<Record<string, string>>> {
  await writeFile(join(work, 'loader.cjs'), loaderScript)
  await compileBundle(join(work, 'bundle.cjs'), work, { node })
  const assets = { [nameAssets().program]: 'bundle.js', [nameAssets().code]: 'bundle.code' }
  for (const command of serviceCommands) {
    await bundleProgram(join(work, `${command}.cjs`), { ...options, command })
    await compileBundle(join(work, `${command}.cjs`), work, { node, commands: [[command, '--help']] })
    const { program, code } = nameAssets(command)
    Object.assign(assets, { [program]: `${command}.js`, [code]: `${command}.code` })
  }
  return assets
}

export interface BundleOptions {
  readonly entry: string
  /** Major version of Node that runs the bundle. */
  readonly node: number
  readonly version?: string | undefined
  /** The only command to include; undefined to include all commands. */
  readonly command?: string | undefined
  /** A module that provides what this version of Node lacks. */
  readonly polyfill?: string
}

/** Bundles the program into one file, and returns which modules it contains. */
export async function bundleProgram(
  file: string,
  { entry, node, version, command, polyfill }: BundleOptions,
): Promise<Metafile> {
  const { metafile } = await build({
    metafile: true,
    entryPoints: [join(root, entry)],
    outfile: file,
    bundle: true,
    minify: true,
    keepNames: true,
    platform: 'node',
    target: `node${node}`,
    format: 'cjs',
    // Native parts of libraries are not bundled; the libraries have a JavaScript fallback.
    external: ['*.node', 'cpu-features'],
    // Lets the bundle also run outside an executable. The bundle then reads files from its own directory.
    define: { 'import.meta.dirname': '__dirname' },
    inject: polyfill === undefined ? [] : [polyfill],
    plugins: [
      dropTranslations,
      ...(version === undefined ? [] : [overrideVersion(version)]),
      ...(command === undefined ? [] : [dropOtherCommands(command)]),
    ],
    logLevel: 'error',
  })
  return metafile
}

export interface SeaFiles {
  /** The script that Node runs. */
  readonly main: string
  readonly output: string
  /** Path of each file that the program reads from inside the executable, by its name there. */
  readonly assets: Readonly<Record<string, string>>
  /** Node's executable. If it is set, the output is an executable, else a blob. */
  readonly executable?: string
}

/** Renders Node's configuration file for a single executable application. */
export function renderSeaConfig(files: SeaFiles): string {
  return JSON.stringify({
    ...files,
    disableExperimentalSEAWarning: true,
    // A program that runs as root must not obey NODE_OPTIONS.
    execArgvExtension: 'none',
  })
}

/** Writes the blob into an executable of Node. */
export async function injectBlob(executable: string, blob: string): Promise<void> {
  await runProgram([process.execPath, postject, executable, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', fuse])
}

/**
 * Leaves out zod's translations of error messages, because every start of the program would set up all of
 * them. Zod loads the English messages separately, so they stay.
 */
const dropTranslations: Plugin = {
  name: 'drop-translations',
  setup(bundling) {
    bundling.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({ contents: '', loader: 'js' }))
  },
}

/**
 * Leaves out the modules of all other commands. This is safe, because the table of commands loads the module
 * of a command only to run or describe this command.
 */
function dropOtherCommands(command: string): Plugin {
  return {
    name: 'drop-other-commands',
    setup(bundling) {
      bundling.onLoad({ filter: /\/src\/cli\/commands\/[^/]+\.ts$/ }, ({ path }) =>
        path.endsWith(`/${command}.ts`) ? undefined : { contents: '', loader: 'js' },
      )
    },
  }
}

/** Makes the bundle report the given version instead of the version in package.json. */
function overrideVersion(version: string): Plugin {
  const file = join(root, 'package.json')
  return {
    name: 'of-version',
    setup(bundling) {
      bundling.onLoad({ filter: /package\.json$/ }, async ({ path }) => {
        if (path !== file) return undefined
        const content: object = JSON.parse(await readFile(path, 'utf8'))
        return { contents: JSON.stringify({ ...content, version }), loader: 'json' }
      })
    },
  }
}

/**
 * Writes a compressed copy next to the executable, as in a release. Hosts receive this copy, so the
 * operator's machine need not compress the executable.
 */
export async function compressExecutable(file: string): Promise<string> {
  const output = `${file}.gz`
  await pipeline(
    createReadStream(file),
    createGzip({ level: constants.Z_BEST_COMPRESSION }),
    createWriteStream(output),
  )
  return output
}

if (import.meta.main) {
  const requested = process.argv.slice(2)
  const names = requested.includes('all')
    ? Object.keys(targets)
    : requested.length === 0
      ? [currentTarget()]
      : requested
  const directory = join(root, 'dist')
  await mkdir(directory, { recursive: true })
  const files: string[] = []
  for (const name of names) files.push(await buildExecutable(name, directory))
  if (requested.includes('all')) await writeReleaseTable(files)
  for (const file of files) process.stdout.write(`${file}\n${await compressExecutable(file)}\n`)
}
