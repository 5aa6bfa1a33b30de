import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'
import { z } from 'zod'
import { findLockedPackage, listProductionPackages } from '../npm-package.ts'

/** An npm package of which at least one byte is in the program. */
export interface ShippedPackage {
  readonly name: string
  readonly version: string
  readonly license: string
  /** Hash of the package's archive, in the format of npm's lock files. */
  readonly integrity: string
}

const root = join(import.meta.dirname, '../..')
/** `licenses` is the field of old packages. */
const packageJson = z.looseObject({
  version: z.string(),
  license: z.string().optional(),
  licenses: z.array(z.looseObject({ type: z.string() })).default([]),
})

/** Lists the packages in a bundle, sorted by name. Modules from which nothing was used do not count. */
export async function listShippedPackages({
  outputs,
}: Pick<Metafile, 'outputs'>): Promise<readonly ShippedPackage[]> {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs))
  const names = inputs.flatMap(([path, { bytesInOutput }]) =>
    bytesInOutput === 0
      ? []
      : (/node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(path)?.[1] ?? []),
  )
  return Promise.all([...new Set(names)].toSorted().map(readPackage))
}

/** Lists the packages that npm installs together with the npm package. */
export async function listInstalledPackages(): Promise<readonly ShippedPackage[]> {
  return Promise.all((await listProductionPackages()).map(readPackage))
}

async function readPackage(name: string): Promise<ShippedPackage> {
  const text = await readFile(join(root, 'node_modules', name, 'package.json'), 'utf8')
  const {
    version,
    licenses,
    license = licenses.map(({ type }) => type).join(' OR '),
  } = packageJson.parse(JSON.parse(text))
  const locked = await findLockedPackage(name)
  if (locked.version !== version)
    throw new Error(
      `${name} ${version} is installed, but package-lock.json has ${locked.version}; run: npm ci`,
    )
  return { name, version, license, integrity: locked.integrity }
}

/** Licences that allow us to ship a package inside the program without other duties than its notice. */
const acceptedLicenses = new Set([
  'MIT',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'Unlicense',
])

/** Returns the packages whose licence is not accepted. */
export function findLicenseProblems(packages: readonly ShippedPackage[]): readonly ShippedPackage[] {
  return packages.filter(({ license }) => !acceptedLicenses.has(license))
}
