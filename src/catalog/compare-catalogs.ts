import { formatCount } from '../kit/text.ts'
import type { Catalog } from './catalog.ts'
import type { KubernetesMinor } from './minor.ts'
import type { Flags } from './program-flags.ts'

/** One difference between two catalogs. */
export interface CatalogChange {
  readonly what: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** Lists what differs between two catalogs: minors, versions, images, and the flags of programs. */
export function compareCatalogs(before: Catalog, after: Catalog): readonly CatalogChange[] {
  return [...compareMaps(listVersions(before), listVersions(after)), ...compareFlags(before, after)]
}

function listVersions({ minors }: Catalog): ReadonlyMap<string, string> {
  return new Map(minors.flatMap(listMinorVersions))
}

function listMinorVersions({ minor, defaultPatch, components, images }: KubernetesMinor): [string, string][] {
  return [
    [`${minor} default patch`, defaultPatch],
    ...Object.entries(components).map(([name, version]): [string, string] => [`${minor} ${name}`, version]),
    ...Object.entries(images).map(([name, image]): [string, string] => [`${minor} image ${name}`, image]),
  ]
}

function compareMaps(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly CatalogChange[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((what) => {
    const [left, right] = [before.get(what), after.get(what)]
    return left === right ? [] : [{ what, before: left, after: right }]
  })
}

function compareFlags(previous: Catalog, next: Catalog): readonly CatalogChange[] {
  const [left, right] = [listFlags(previous), listFlags(next)]
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((what) => {
    const [old, current] = [left.get(what), right.get(what)]
    const difference = describeDifference(old ?? {}, current ?? {})
    if (difference === '') return []
    const suffix = old === undefined ? '' : ` (${difference})`
    const after = current === undefined ? undefined : `${countFlags(current)}${suffix}`
    return [{ what, before: old && countFlags(old), after }]
  })
}

function countFlags(flags: Flags): string {
  return formatCount(Object.keys(flags).length, 'flag')
}

/** Lists the flags of each program in each minor, the additional flags on Windows, and the removed flags. */
function listFlags({ flags }: Catalog): ReadonlyMap<string, Flags> {
  const { byMinor, windows, removed } = flags
  return new Map<string, Flags>([
    ...byMinor.flatMap(({ minor, flags: programs }) =>
      Object.entries(programs).map(([name, known]) => [`flags of ${name} ${minor}`, known] as const),
    ),
    ...Object.entries(windows).map(([name, known]) => [`flags of ${name} on Windows`, known] as const),
    [
      'removed flags',
      Object.fromEntries(
        removed.map(({ program, flag, removedIn }) => [`${program} ${flag} ${removedIn}`, 'value' as const]),
      ),
    ],
  ])
}

function describeDifference(before: Flags, after: Flags): string {
  const count = (text: string, names: readonly string[]): string[] =>
    names.length === 0 ? [] : [`${names.length} ${text}`]
  const [old, current] = [Object.keys(before), Object.keys(after)]
  return [
    ...count(
      'added',
      current.filter((flag) => !Object.hasOwn(before, flag)),
    ),
    ...count(
      'changed',
      current.filter((flag) => Object.hasOwn(before, flag) && before[flag] !== after[flag]),
    ),
    ...count(
      'removed',
      old.filter((flag) => !Object.hasOwn(after, flag)),
    ),
  ].join(', ')
}
