import { dirname } from 'node:path'
import { etcdDataDirectory } from '../../../contract/etcd-restore.ts'
import type { KeyCount } from '../../../etcd/member.ts'
import { formatDuration } from '../../../kit/duration.ts'
import type { SnapshotManifest } from '../../../snapshot/manifest.ts'
import { formatCount, joinNames } from '../../format-text.ts'

export interface RestoreSummary {
  readonly name: string
  readonly manifest: SnapshotManifest
  readonly now: Date
  /** Key count at the highest revision of all members; undefined if no member responds. */
  readonly current: KeyCount | undefined
  readonly members: readonly string[]
  /** Hosts on which services stop. */
  readonly hosts: readonly string[]
}

/** Describes the effect of a restore for the operator who must confirm it. */
export function formatRestore({ name, manifest, now, current, members, hosts }: RestoreSummary): string {
  const { cluster, created, revision, keys } = manifest
  const age = formatDuration(now.getTime() - Date.parse(created))
  return [
    `${cluster.name} becomes again what it was ${age} ago: ${name}, taken ${created}, ${formatCount(keys, 'key')}, revision ${revision}`,
    `  lost: ${formatLostChanges(revision, current)}`,
    `  stops for a while: kubelets, controllers, API servers and etcd on ${joinNames(hosts)}; pods go on running`,
    `  pods that are younger than the snapshot end, and those that were deleted since come again`,
    `  etcd’s data of now stays on ${joinNames(members)} in ${dirname(etcdDataDirectory)}/before-restore-TIME`,
    '',
  ].join('\n')
}

function formatLostChanges(revision: number, current: KeyCount | undefined): string {
  if (current === undefined) return 'all that was written since; no member of etcd answers to say how much'
  const changes = Math.max(0, current.revision - revision)
  return changes === 0
    ? `nothing: etcd is at revision ${current.revision}`
    : `${formatCount(changes, 'change')}, all that was written since: etcd is at revision ${current.revision} with ${formatCount(current.keys, 'key')}`
}
