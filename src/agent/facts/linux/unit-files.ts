import type { FactSource } from '../source.ts'

/** systemd's unit directories, in order of precedence. */
const directories = [
  '/run/systemd/transient',
  '/etc/systemd/system',
  '/run/systemd/system',
  '/usr/local/lib/systemd/system',
  '/usr/lib/systemd/system',
  '/lib/systemd/system',
  // Units that systemd generates from SysV init scripts.
  '/run/systemd/generator.late',
]

export interface UnitFiles {
  readonly unit?: string
  /** Contents of the drop-ins, in the order in which systemd applies them. */
  readonly dropIns: readonly string[]
}

/**
 * Reads units and their drop-ins, keyed by unit name. Units without any file are left out; a masked unit is
 * empty.
 */
export async function readUnitFiles(
  source: FactSource,
  names: readonly string[],
): Promise<ReadonlyMap<string, UnitFiles>> {
  const listings = await Promise.all(
    directories.map(async (path) => ({ path, names: new Set(await source.listDirectory(path)) })),
  )
  const found = await Promise.all(
    names.map(async (name): Promise<readonly [string, UnitFiles]> => {
      const unitListing = listings.find((listing) => listing.names.has(name))
      const dropInListings = listings.filter((listing) => listing.names.has(`${name}.d`))
      const [unit, dropIns] = await Promise.all([
        unitListing && source.readFile(`${unitListing.path}/${name}`),
        readDropIns(
          source,
          dropInListings.map(({ path }) => `${path}/${name}.d`),
        ),
      ])
      return [name, { ...(unitListing === undefined ? {} : { unit: unit ?? '' }), dropIns }]
    }),
  )
  return new Map(found.filter(([, { unit, dropIns }]) => unit !== undefined || dropIns.length > 0))
}

/**
 * Reads drop-ins, sorted by file name across all directories. If two have the same name, the first directory
 * wins.
 */
async function readDropIns(source: FactSource, paths: readonly string[]): Promise<string[]> {
  const listings = await Promise.all(
    paths.map(async (path) => ({ path, names: await source.listDirectory(path) })),
  )
  const files = new Map(
    listings
      .toReversed()
      .flatMap(({ path, names }) => names.map((name) => [name, `${path}/${name}`] as const))
      .filter(([name]) => name.endsWith('.conf')),
  )
  const ordered = [...files].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Promise.all(ordered.map(async ([, file]) => (await source.readFile(file)) ?? ''))
}
