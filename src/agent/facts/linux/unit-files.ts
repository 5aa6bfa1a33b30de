import type { FactSource } from '../source.ts'

/** Where systemd looks for units: what is in the first goes over what is in the others. */
const directories = [
  '/run/systemd/transient',
  '/etc/systemd/system',
  '/run/systemd/system',
  '/usr/local/lib/systemd/system',
  '/usr/lib/systemd/system',
  '/lib/systemd/system',
  // Made from the scripts of the time before systemd.
  '/run/systemd/generator.late',
]

export interface UnitTexts {
  readonly unit?: string
  /** What changes the unit, in the order in which it does. */
  readonly pieces: readonly string[]
}

/** Those of the units that are there. One that is masked is there, and empty. */
export async function unitTexts(
  source: FactSource,
  names: readonly string[],
): Promise<ReadonlyMap<string, UnitTexts>> {
  const listings = await Promise.all(
    directories.map(async (path) => ({ path, names: new Set(await source.listDirectory(path)) })),
  )
  const found = await Promise.all(
    names.map(async (name): Promise<readonly [string, UnitTexts]> => {
      const holder = listings.find((listing) => listing.names.has(name))
      const around = listings.filter((listing) => listing.names.has(`${name}.d`))
      const [unit, pieces] = await Promise.all([
        holder && source.readFile(`${holder.path}/${name}`),
        piecesIn(
          source,
          around.map(({ path }) => `${path}/${name}.d`),
        ),
      ])
      return [name, { ...(holder === undefined ? {} : { unit: unit ?? '' }), pieces }]
    }),
  )
  return new Map(found.filter(([, { unit, pieces }]) => unit !== undefined || pieces.length > 0))
}

/** By their names, wherever they are; of the same name the first one. */
async function piecesIn(source: FactSource, paths: readonly string[]): Promise<string[]> {
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
