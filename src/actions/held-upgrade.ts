import { findHoldProblem } from '../catalog/held-upgrade.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { Cluster } from '../spec/cluster.ts'
import { requireLock } from '../workspace/load-lock.ts'
import { loadCatalog } from '../workspace/load-catalog.ts'
import { setVersions } from '../workspace/set-versions.ts'
import { removeKey, setScalar } from '../workspace/yaml-edit.ts'
import { prepareFileChange } from './change-cluster-file.ts'
import {
  type FileChangeDeps,
  prepareUpgradeChange,
  toUpgradeChange,
  type UpgradeChange,
  type UpgradeDeps,
} from './upgrade.ts'

export type HeldUpgradeDeps = Pick<UpgradeDeps, 'context' | 'files' | 'report'>

type HeldUpgrade = NonNullable<Cluster['spec']['heldUpgrade']>

/**
 * Prepares an upgrade that can be undone. Control planes get the programs of the new version, which emulate
 * the previous minor. etcd, kubelets and everything else stay at `spec.kubernetes`.
 */
export async function prepareHold(
  deps: HeldUpgradeDeps,
  { spec }: Cluster,
  to: string,
): Promise<UpgradeChange> {
  const catalog = await loadCatalog(deps.context, deps.files.file)
  const problem = findHoldProblem(catalog, { from: spec.kubernetes, to })
  if (problem !== undefined) throw problem
  const since = deps.context.now().toISOString()
  return prepareUpgradeChange(deps, (text) => editHold(text, { to, since }))
}

/**
 * Prepares the same hold again, for example after an interruption. cluster.yml and the lock already describe
 * the hold, so they are not written.
 */
export async function prepareResumedHold(deps: FileChangeDeps): Promise<UpgradeChange> {
  const { context, files } = deps
  const change = await prepareFileChange(context, files.file, (text) => text)
  const lock = await requireLock(context, files.file)
  return { ...change, lock, persist: async () => undefined }
}

/** Prepares the end of a held upgrade: all components get the new version, and nothing is emulated. */
export async function prepareConfirmation(deps: HeldUpgradeDeps, cluster: Cluster): Promise<UpgradeChange> {
  const { to } = requireHeldUpgrade(cluster)
  return prepareUpgradeChange(deps, (text) =>
    setVersions(editHold(text, undefined), { kubernetes: to, workers: to }),
  )
}

/**
 * Prepares the return to the version before a held upgrade. The lock still has the programs of that version,
 * so no network access is needed.
 */
export async function prepareRollback(deps: FileChangeDeps, cluster: Cluster): Promise<UpgradeChange> {
  requireHeldUpgrade(cluster)
  const { context, files } = deps
  const change = await prepareFileChange(context, files.file, (text) => editHold(text, undefined))
  const { heldUpgrade: _, ...lock } = await requireLock(context, files.file)
  return toUpgradeChange(deps, change, lock)
}

/** Sets or removes the held upgrade in the text of cluster.yml. All other text is kept. */
export function editHold(text: string, held: HeldUpgrade | undefined): string {
  if (held === undefined) return removeKey(text, ['spec'], 'heldUpgrade')
  return setScalar(text, ['spec'], 'heldUpgrade', `{ to: "${held.to}", since: "${held.since}" }`)
}

/** Throws if an upgrade is held, because it must be confirmed or rolled back before another upgrade. */
export function refuseDuringHold({ spec }: Cluster): void {
  if (spec.heldUpgrade === undefined) return
  const { to, since } = spec.heldUpgrade
  throw new HyperkubeError('UPGRADE_HELD', `the upgrade to ${to} is held since ${since}`, {
    hint: `finish it: hyperkube upgrade confirm; or return to ${spec.kubernetes}: hyperkube upgrade rollback`,
  })
}

function requireHeldUpgrade({ spec }: Cluster): HeldUpgrade {
  if (spec.heldUpgrade !== undefined) return spec.heldUpgrade
  throw new HyperkubeError('UPGRADE_NOT_HELD', 'no upgrade is held', {
    hint: 'resume an interrupted confirmation or rollback: hyperkube up; start an upgrade that can be undone: hyperkube upgrade --to VERSION --hold',
  })
}
