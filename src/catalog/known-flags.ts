import type {
  FlagChanges,
  Flags,
  FlagTable,
  ProgramFlags,
  ProgramName,
  RemovedFlag,
} from './program-flags.ts'
import { toMinor } from './version.ts'

/** Flags of all programs of a catalog. */
export interface KnownFlags {
  /** Flags of each minor version, oldest first for each component. */
  readonly byMinor: readonly MinorFlags[]
  /** Flags that programs accept on Windows in addition to those on Linux. */
  readonly windows: ProgramFlags
  /** Removed flags that are not in any generated flag list. */
  readonly removed: readonly RemovedFlag[]
}

interface MinorFlags {
  readonly minor: string
  /** Flags of each program. */
  readonly flags: Readonly<Record<string, Flags>>
}

/**
 * Returns the flags of a program in a version of that program, or undefined if no flags were generated for
 * its minor.
 */
export function findFlags({ byMinor }: KnownFlags, program: ProgramName, version: string): Flags | undefined {
  const minor = toMinor(version)
  return byMinor.find((one) => one.minor === minor && one.flags[program] !== undefined)?.flags[program]
}

/** Lists the minors of a program whose generated flags contain a flag, oldest first. */
export function listMinorsWithFlag(
  { byMinor }: KnownFlags,
  program: ProgramName,
  flag: string,
): readonly string[] {
  return byMinor.filter(({ flags }) => Object.hasOwn(flags[program] ?? {}, flag)).map(({ minor }) => minor)
}

/** Computes the flags of each minor from the flags of the previous minor and the stored differences. */
export function expandFlags({ base, changes }: FlagTable): readonly MinorFlags[] {
  const minors: MinorFlags[] = [base]
  let { flags }: MinorFlags = base
  for (const { minor, programs } of changes) {
    const changed = Object.entries(programs).map(
      ([program, difference]) => [program, applyChanges(flags[program] ?? {}, difference)] as const,
    )
    flags = { ...flags, ...Object.fromEntries(changed) }
    minors.push({ minor, flags })
  }
  return minors
}

function applyChanges(before: Flags, { added, changed, removed = {} }: FlagChanges): Flags {
  const kept = Object.entries(before).filter(([flag]) => !Object.hasOwn(removed, flag))
  const after = Object.entries({ ...Object.fromEntries(kept), ...changed, ...added })
  return Object.fromEntries(after.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/**
 * Flags that programs accept on Windows in addition to those on Linux. The list is written by hand from
 * upstream's sources of 1.36 and 1.37, because the generator cannot run Windows programs.
 */
export const windowsFlags: ProgramFlags = {
  kubelet: { 'windows-priorityclass': 'value', 'windows-service': 'boolean' },
  'kube-proxy': {
    'enable-dsr': 'boolean',
    'forward-healthcheck-vip': 'boolean',
    'network-name': 'value',
    'root-hnsendpoint-name': 'value',
    'source-vip': 'value',
    'windows-service': 'boolean',
  },
}

/**
 * Removed flags that are not in any generated flag list. Other removals are found by comparing the flag
 * lists.
 */
export const removedFlags: readonly RemovedFlag[] = [
  { program: 'kubelet', flag: 'pod-infra-container-image', removedIn: '1.35' },
  { program: 'etcd', flag: 'experimental-*', removedIn: '3.7' },
]
