import type { Arch } from '../catalog/artifacts.ts'
import type { Lock } from '../catalog/lock.ts'
import type { Cluster } from '../spec/cluster.ts'
import { buildLockPath } from '../workspace/cluster-paths.ts'
import type { ClusterFiles, WorkspaceContext } from '../workspace/context.ts'
import { loadCatalog } from '../workspace/load-catalog.ts'
import { readClusterSource, readCheckedCluster } from '../workspace/load-cluster.ts'
import { requireLock } from '../workspace/load-lock.ts'
import {
  listTargets,
  type ReportLine,
  resolveClusterLock,
  writeLock,
} from '../workspace/resolve-cluster-lock.ts'
import { setVersions } from '../workspace/set-versions.ts'
import { type ClusterFileChange, InvalidFileChange, prepareFileChange } from './change-cluster-file.ts'
import type { ActionStatus } from './phases/action-run.ts'
import type { UpgradeStep } from './plan-upgrade.ts'

/** A change of cluster.yml together with the lock that belongs to it. */
export interface UpgradeChange extends ClusterFileChange {
  readonly lock: Lock
}

/** A step and the lock of its state. */
export interface LockedStep extends UpgradeStep {
  readonly lock: Lock
}

/** Deps of a change of cluster.yml and the lock that needs no network access. */
export interface FileChangeDeps {
  readonly context: Pick<WorkspaceContext, 'readFile' | 'replaceFile'>
  readonly files: Pick<ClusterFiles, 'file'>
  readonly report: ReportLine
}

export interface UpgradeFilesDeps {
  readonly context: WorkspaceContext
  readonly files: ClusterFiles
  readonly report: ReportLine
}

/** Inputs and effects of an upgrade. Tests replace the effects. */
export interface UpgradeDeps extends UpgradeFilesDeps {
  /** States to roll out one after the other. */
  readonly steps: readonly LockedStep[]
  /** Saves and verifies a snapshot before a step; undefined if the upgrade runs without snapshots. */
  readonly takeSnapshot: ((step: UpgradeStep) => Promise<ActionStatus>) | undefined
  /** Brings all hosts to the changed cluster.yml and lock. */
  readonly up: (step: UpgradeStep, change: UpgradeChange) => Promise<ActionStatus>
}

/**
 * Upgrades a cluster. Phases of each step: save a snapshot, change cluster.yml and the lock, run `up`.
 * cluster.yml and the lock are written together, so `up` or the same upgrade can resume after an
 * interruption.
 */
export async function upgrade(deps: UpgradeDeps): Promise<ActionStatus> {
  for (const step of deps.steps) {
    const snapshotStatus = step.needsSnapshot ? await deps.takeSnapshot?.(step) : undefined
    if (snapshotStatus !== undefined && snapshotStatus !== 'ok') return snapshotStatus
    const status = await deps.up(step, await prepareStep(deps, step))
    if (status !== 'ok') return status
  }
  return 'ok'
}

/**
 * Resolves the locks of all steps before the first change, so that a version that the source lacks is found
 * in time. Workers that a step leaves at the previous version keep their pins from the previous lock.
 */
export async function lockSteps(
  { context, files, report }: UpgradeFilesDeps,
  steps: readonly UpgradeStep[],
): Promise<readonly LockedStep[]> {
  const { text } = await readClusterSource(context, files.file)
  const catalog = await loadCatalog(context, files.file)
  let previous = await requireLock(context, files.file)
  const locked: LockedStep[] = []
  for (const step of steps) {
    if (!step.isCurrent) {
      const { cluster, findings } = await readCheckedCluster(
        context,
        { file: files.file, text: setVersions(text, step) },
        catalog,
      )
      if (cluster === undefined) throw new InvalidFileChange(files.file, findings)
      previous = await resolveNextLock({ context, files, report }, cluster, previous)
    }
    locked.push({ ...step, lock: previous })
  }
  return locked
}

/** Reads cluster.yml from disk for each step, because the operator may edit it between two steps. */
async function prepareStep(
  { context, files, report }: UpgradeFilesDeps,
  { lock, ...step }: LockedStep,
): Promise<UpgradeChange> {
  const change = await prepareFileChange(context, files.file, (text) =>
    step.isCurrent ? text : setVersions(text, step),
  )
  const written = toUpgradeChange({ context, files, report }, change, lock)
  return step.isCurrent ? { ...written, persist: async () => undefined } : written
}

/** Changes cluster.yml with `edit` and resolves the lock that belongs to it. Writes nothing yet. */
export async function prepareUpgradeChange(
  { context, files, report }: UpgradeFilesDeps,
  edit: (text: string) => string,
): Promise<UpgradeChange> {
  const change = await prepareFileChange(context, files.file, edit)
  const previous = await requireLock(context, files.file)
  const lock = await resolveNextLock({ context, files, report }, change.cluster, previous)
  return toUpgradeChange({ context, files, report }, change, lock)
}

/** Resolves the lock of a changed cluster for the architectures of its previous lock. */
async function resolveNextLock(
  { context, files, report }: UpgradeFilesDeps,
  cluster: Cluster,
  previous: Lock,
): Promise<Lock> {
  const targets = listTargets(cluster, listArches(previous))
  return resolveClusterLock(
    context,
    { files, cluster, targets, previous, acceptChangedDigests: false },
    report,
  )
}

/**
 * Combines a change of cluster.yml with its lock. `persist` writes both files, so `up` can resume an
 * interrupted run.
 */
export function toUpgradeChange(
  { context, files, report }: FileChangeDeps,
  change: ClusterFileChange,
  lock: Lock,
): UpgradeChange {
  return {
    ...change,
    lock,
    async persist() {
      await writeLock(context, buildLockPath(files.file), lock, report)
      await change.persist()
    },
  }
}

/** Lists the architectures for which a lock has Linux artifacts. */
function listArches({ artifacts }: Lock): Arch[] {
  return [...new Set(artifacts.filter(({ os }) => os === 'linux').map(({ arch }) => arch))]
}
