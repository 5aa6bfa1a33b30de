import type { Arch } from '../catalog/artifacts.ts'
import type { Lock } from '../catalog/lock.ts'
import { buildLockPath } from '../workspace/cluster-paths.ts'
import type { ClusterFiles, WorkspaceContext } from '../workspace/context.ts'
import { requireLock } from '../workspace/load-lock.ts'
import {
  listTargets,
  type ReportLine,
  resolveClusterLock,
  writeLock,
} from '../workspace/resolve-cluster-lock.ts'
import { setScalar } from '../workspace/yaml-edit.ts'
import { type ClusterFileChange, prepareFileChange } from './change-cluster-file.ts'
import type { ActionStatus } from './phases/action-run.ts'

/** A change of cluster.yml together with the lock that belongs to it. */
export interface UpgradeChange extends ClusterFileChange {
  readonly lock: Lock
}

/** What a change of cluster.yml and the lock needs if nothing is looked up. */
export interface FileChangeDeps {
  readonly context: Pick<WorkspaceContext, 'readFile' | 'replaceFile'>
  readonly files: Pick<ClusterFiles, 'file'>
  readonly report: ReportLine
}

/** Inputs and effects of an upgrade. Tests replace the effects. */
export interface UpgradeDeps {
  readonly context: WorkspaceContext
  readonly files: ClusterFiles
  /** Versions to install one after the other; the last one is the version that the operator requested. */
  readonly path: readonly string[]
  /** Saves and verifies a snapshot; undefined if the upgrade starts without a snapshot. */
  readonly takeSnapshot: (() => Promise<ActionStatus>) | undefined
  /** Brings all hosts to the changed cluster.yml and lock. */
  readonly up: (version: string, change: UpgradeChange) => Promise<ActionStatus>
  readonly report: ReportLine
}

/**
 * Upgrades a cluster. Phases: save a snapshot; then for each version resolve the lock, change cluster.yml, run
 * `up`. cluster.yml and the lock are written together, so `up` can resume an interrupted upgrade.
 */
export async function upgrade(deps: UpgradeDeps): Promise<ActionStatus> {
  const snapshotStatus = (await deps.takeSnapshot?.()) ?? 'ok'
  if (snapshotStatus !== 'ok') return snapshotStatus
  for (const version of deps.path) {
    const status = await deps.up(version, await prepareVersion(deps, version))
    if (status !== 'ok') return status
  }
  return 'ok'
}

async function prepareVersion(deps: UpgradeDeps, version: string): Promise<UpgradeChange> {
  return prepareUpgradeChange(deps, (text) => setVersion(text, version))
}

export function setVersion(text: string, version: string): string {
  return setScalar(text, ['spec'], 'kubernetes', `"${version}"`)
}

/** Changes cluster.yml with `edit` and resolves the lock that belongs to it. Writes nothing yet. */
export async function prepareUpgradeChange(
  { context, files, report }: Pick<UpgradeDeps, 'context' | 'files' | 'report'>,
  edit: (text: string) => string,
): Promise<UpgradeChange> {
  const change = await prepareFileChange(context, files.file, edit)
  const previous = await requireLock(context, files.file)
  const { cluster } = change
  const targets = listTargets(cluster, listArches(previous))
  const lockOptions = { files, cluster, targets, previous, acceptChangedDigests: false }
  const lock = await resolveClusterLock(context, lockOptions, report)
  return toUpgradeChange({ context, files, report }, change, lock)
}

/** Writes cluster.yml and the lock together, so that `up` can resume. */
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
