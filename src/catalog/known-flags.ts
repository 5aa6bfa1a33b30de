import { etcd_3_6 } from './flags/etcd-3-6.ts'
import { etcd_3_7 } from './flags/etcd-3-7.ts'
import { flannel_0_28 } from './flags/flannel-0-28.ts'
import { kubernetes_1_36 } from './flags/kubernetes-1-36.ts'
import { kubernetes_1_37 } from './flags/kubernetes-1-37.ts'
import type { Flags, Program, ProgramFlags } from './program-flags.ts'
import { numbersOf } from './version.ts'

interface Generation {
  readonly minor: string
  readonly flags: ProgramFlags
}

/** Of each part the oldest minor first. A new minor is a new file and a line here. */
const generations: readonly Generation[] = [
  { minor: '1.36', flags: kubernetes_1_36 },
  { minor: '1.37', flags: kubernetes_1_37 },
  { minor: '3.6', flags: etcd_3_6 },
  { minor: '3.7', flags: etcd_3_7 },
  { minor: '0.28', flags: flannel_0_28 },
]

/** The flags of a program by its own version; nothing for a minor that nobody has asked. */
export function flagsOf(program: Program, version: string): Flags | undefined {
  const minor = minorOf(version)
  return generations.find((one) => one.minor === minor && one.flags[program] !== undefined)?.flags[program]
}

/** The minors of a program that take a flag, among those that were asked, the oldest first. */
export function minorsWith(program: Program, flag: string): readonly string[] {
  return generations
    .filter(({ flags }) => Object.hasOwn(flags[program] ?? {}, flag))
    .map(({ minor }) => minor)
}

export function minorOf(version: string): string {
  const [major, minor] = numbersOf(version)
  return `${major}.${minor}`
}
