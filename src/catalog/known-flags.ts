import { etcd_3_6 } from './flags/etcd-3-6.ts'
import { etcd_3_7 } from './flags/etcd-3-7.ts'
import { flannel_0_28 } from './flags/flannel-0-28.ts'
import { kubernetes_1_36 } from './flags/kubernetes-1-36.ts'
import { kubernetes_1_37 } from './flags/kubernetes-1-37.ts'
import type { Flags, ProgramName, ProgramFlags } from './program-flags.ts'
import { parseVersion } from './version.ts'

interface MinorFlags {
  readonly minor: string
  readonly flags: ProgramFlags
}

/** Flags of each minor version, oldest first for each component. */
const flagsByMinor: readonly MinorFlags[] = [
  { minor: '1.36', flags: kubernetes_1_36 },
  { minor: '1.37', flags: kubernetes_1_37 },
  { minor: '3.6', flags: etcd_3_6 },
  { minor: '3.7', flags: etcd_3_7 },
  { minor: '0.28', flags: flannel_0_28 },
]

/**
 * Returns the flags of a program in a version of that program, or undefined if no flags were generated for
 * its minor.
 */
export function findFlags(program: ProgramName, version: string): Flags | undefined {
  const minor = toMinor(version)
  return flagsByMinor.find((one) => one.minor === minor && one.flags[program] !== undefined)?.flags[program]
}

/** Lists the minors of a program whose generated flags contain a flag, oldest first. */
export function listMinorsWithFlag(program: ProgramName, flag: string): readonly string[] {
  return flagsByMinor
    .filter(({ flags }) => Object.hasOwn(flags[program] ?? {}, flag))
    .map(({ minor }) => minor)
}

export function toMinor(version: string): string {
  const [major, minor] = parseVersion(version)
  return `${major}.${minor}`
}
