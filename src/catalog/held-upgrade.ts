import { HyperkubeError } from '../kit/errors.ts'
import type { Catalog } from './catalog.ts'
import { controlPlanePrograms } from './artifacts.ts'
import { findFlags } from './known-flags.ts'
import { toMinor } from './version.ts'

/** Flag with which a control plane program serves and stores only what an older minor can read. */
export const emulationFlag = 'emulated-version'

/**
 * Upgrades that can be held. `test/full/emulated-version.test.ts` verifies each of them. Emulating programs
 * of the new minor store data in the etcd of the old minor. The programs of the old minor must then read all
 * of it.
 */
const holdableUpgrades: readonly { readonly from: string; readonly to: string }[] = [
  { from: '1.36', to: '1.37' },
]

export interface VersionChange {
  readonly from: string
  readonly to: string
}

/** Returns why an upgrade cannot be held, or undefined if it can. */
export function findHoldProblem({ flags }: Catalog, { from, to }: VersionChange): HyperkubeError | undefined {
  const isVerified = holdableUpgrades.some((one) => one.from === toMinor(from) && one.to === toMinor(to))
  const missing = controlPlanePrograms.filter(
    (program) => !Object.hasOwn(findFlags(flags, program, to) ?? {}, emulationFlag),
  )
  if (isVerified && missing.length === 0) return undefined
  const known = holdableUpgrades.map((one) => `${one.from} to ${one.to}`).join(', ')
  return new HyperkubeError(
    'UPGRADE_HOLD_UNSUPPORTED',
    `an upgrade from ${from} to ${to} cannot be held; this release can hold ${known}`,
    { hint: `without --hold a snapshot is taken, and no rollback is possible: hyperkube upgrade --to ${to}` },
  )
}
