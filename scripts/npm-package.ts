import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { runProgram } from '../src/kit/command.ts'

/**
 * A package of the npm registry. `integrity` is the hash of the archive, in the format of npm's lock files.
 */
export interface PinnedPackage {
  readonly name: string
  readonly version: string
  readonly integrity: string
}

const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      integrity: z.string().optional(),
      dev: z.boolean().default(false),
      optional: z.boolean().default(false),
    }),
  ),
})

async function readLockFile(): Promise<z.infer<typeof lockFile>> {
  const text = await readFile(join(import.meta.dirname, '../package-lock.json'), 'utf8')
  return lockFile.parse(JSON.parse(text))
}

/** Lists the packages that npm installs together with ours, as paths below node_modules. */
export async function listProductionPackages(): Promise<readonly string[]> {
  const { packages } = await readLockFile()
  return Object.entries(packages).flatMap(([path, { dev, optional }]) =>
    path === '' || dev || optional ? [] : [path.replace('node_modules/', '')],
  )
}

/**
 * Finds a package in package-lock.json. This file lists packages for all systems, including packages that npm
 * does not install on this system.
 */
export async function findLockedPackage(name: string): Promise<PinnedPackage> {
  const { packages } = await readLockFile()
  const { version, integrity } = packages[`node_modules/${name}`] ?? {}
  if (version === undefined || integrity === undefined)
    throw new Error(`package-lock.json has no version and hash of ${name}`)
  return { name, version, integrity }
}

/**
 * Unpacks a package of the npm registry into the folder `package` of a directory. Throws if the archive does
 * not have the pinned hash.
 */
export async function fetchPackage(pinned: PinnedPackage, work: string, directory: string): Promise<void> {
  const id = `${pinned.name}@${pinned.version}`
  const packed = await runProgram(['npm', 'pack', '--silent', id, '--pack-destination', work])
  const archive = join(work, packed.stdout.trim().split('\n').at(-1) ?? '')
  checkIntegrity(pinned, await readFile(archive))
  await runProgram(['tar', '-xzf', archive, '-C', directory])
}

export function checkIntegrity({ name, version, integrity }: PinnedPackage, archive: Uint8Array): void {
  const found = `sha512-${createHash('sha512').update(archive).digest('base64')}`
  if (found !== integrity) throw new Error(`${name}@${version} has changed: ${found}, expected ${integrity}`)
}
