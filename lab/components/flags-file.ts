import type { PartFlags } from './flags.ts'
import { compareVersions, toMinor } from './versions.ts'

/**
 * Flags of the programs of one version of an upstream component (part), for example of Kubernetes v1.37.1.
 */
export interface VersionFlags {
  readonly version: string
  readonly flags: PartFlags
}

export interface FlagsFile {
  /** Path relative to the root of the repository. */
  readonly path: string
  readonly text: string
}

/**
 * Renders the module in which the catalog stores the flags of a part. It contains all flags of the oldest
 * version, and for each later version the difference from the previous one.
 */
export function renderFlagsFile(name: string, versions: readonly VersionFlags[]): FlagsFile {
  const sorted = versions.toSorted((a, b) => compareVersions(a.version, b.version))
  const [oldest, ...later] = sorted
  if (oldest === undefined) throw new Error(`${name} has no version`)
  const changes = later.map((one, index) => formatChanges(sorted[index]?.flags ?? new Map(), one))
  return {
    path: `src/catalog/flags/${name}.ts`,
    text: `import type { FlagTable } from '../program-flags.ts'

/** Made by npm run flags from the programs of ${name} ${sorted.map(({ version }) => version.slice(1)).join(', ')}; do not edit. */
export const ${toCamelCase(name)}FlagTable = {
  base: {
    minor: '${toMinor(oldest.version)}',
    flags: {
${formatMaps(oldest.flags, 6)}    },
  },
  changes: [${changes.length === 0 ? '' : `\n${changes.join('')}  `}],
} as const satisfies FlagTable
`,
  }
}

/** Converts a name such as kube-router to kubeRouter. */
function toCamelCase(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function formatChanges(before: PartFlags, { version, flags }: VersionFlags): string {
  const programs = [...new Set([...before.keys(), ...flags.keys()])].flatMap((program) => {
    const parts = diffFlags(before.get(program) ?? new Map(), flags.get(program) ?? new Map())
    return parts.size === 0 ? [] : [`        ${formatKey(program)}: {\n${formatMaps(parts, 10)}        },\n`]
  })
  const body = programs.length === 0 ? '{}' : `{\n${programs.join('')}      }`
  return `    {\n      minor: '${toMinor(version)}',\n      programs: ${body},\n    },\n`
}

type Flags = ReadonlyMap<string, string>

/** Returns the added, changed and removed flags of a program. Empty groups are left out. */
function diffFlags(before: Flags, after: Flags): ReadonlyMap<string, Flags> {
  const select = (flags: Flags, isSelected: (flag: string, kind: string) => boolean): Flags =>
    new Map([...flags].filter(([flag, kind]) => isSelected(flag, kind)))
  const parts = new Map([
    ['added', select(after, (flag) => !before.has(flag))],
    ['changed', select(after, (flag, kind) => before.has(flag) && before.get(flag) !== kind)],
    ['removed', select(before, (flag) => !after.has(flag))],
  ])
  return new Map([...parts].filter(([, flags]) => flags.size > 0))
}

function formatMaps(maps: ReadonlyMap<string, Flags>, indent: number): string {
  const space = ' '.repeat(indent)
  const formatFlags = (flags: Flags): string =>
    [...flags].map(([flag, kind]) => `${space}  ${formatKey(flag)}: '${kind}',\n`).join('')
  return [...maps]
    .map(([key, flags]) => `${space}${formatKey(key)}: {\n${formatFlags(flags)}${space}},\n`)
    .join('')
}

function formatKey(name: string): string {
  return /^\w+$/.test(name) ? name : `'${name}'`
}
