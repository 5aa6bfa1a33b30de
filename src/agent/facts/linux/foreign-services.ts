import type { Fact, FactSource } from '../source.ts'
import { readActiveUnits } from './system.ts'

/** Names of the services that hyperkube creates. */
const hyperkubeServices = [
  'apiserver-proxy',
  'containerd',
  'etcd',
  'flanneld',
  'hyperkube-agent',
  'hyperkube-controller-manager',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-proxy',
  'kube-router',
  'kube-scheduler',
  'kubelet',
].map((name) => `${name}.service`)

/** keepalived of the distribution, which may manage the same address. */
const keepalivedUnit = 'keepalived.service'

/** Directory of all programs of hyperkube. A service that starts a program elsewhere is foreign. */
const programDirectory = '/opt/hyperkube/'

export const readForeignServices: Fact<'foreignServices'> = async (source) => {
  const [unitFiles, active] = await Promise.all([
    readUnitFiles(source, hyperkubeServices),
    readActiveUnits(source),
  ])
  return [
    ...hyperkubeServices.filter((name) => isForeign(unitFiles.get(name))),
    // Unlike the others it only matters while it runs: the package also has the program that hyperkube uses.
    ...(active.has(keepalivedUnit) ? [keepalivedUnit] : []),
  ]
}

/**
 * True if a unit exists and does not start a program of hyperkube. Drop-ins without a unit are foreign only
 * if they start a program of other software.
 */
function isForeign(
  found: { readonly unit?: string; readonly dropIns: readonly string[] } | undefined,
): boolean {
  if (found === undefined) return false
  const { unit, dropIns } = found
  const program = findStartedProgram([unit ?? '', ...dropIns])
  if (program === undefined) return unit !== undefined
  return !program.startsWith(programDirectory)
}

/**
 * Finds the program that a service starts, from its unit and its drop-ins in systemd's order. An empty
 * ExecStart clears the earlier ones.
 */
export function findStartedProgram(texts: readonly string[]): string | undefined {
  const commands: string[] = []
  for (const text of texts) {
    for (const command of text.replaceAll('\\\n', ' ').matchAll(/^\s*ExecStart\s*=(.*)$/gm)) {
      const value = (command[1] ?? '').trim()
      if (value === '') commands.length = 0
      else commands.push(value)
    }
  }
  return commands[0] === undefined ? undefined : parseProgram(commands[0])
}

/** Returns the program of an ExecStart command, without systemd's prefix characters and quotes. */
function parseProgram(command: string): string {
  const [, quoted, plain = ''] = /^[-@:+!|]*(?:"([^"]*)"|(\S+))/.exec(command) ?? []
  return quoted ?? plain
}

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

interface UnitFiles {
  readonly unit?: string
  /** Contents of the drop-ins, in the order in which systemd applies them. */
  readonly dropIns: readonly string[]
}

/**
 * Reads units and their drop-ins, keyed by unit name. Units without any file are left out. The text of a
 * masked unit is empty.
 */
async function readUnitFiles(
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
