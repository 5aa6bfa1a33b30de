import { dirname } from 'node:path'
import { etcdData } from '../../../contract/etcd-restore.ts'
import type { KeyCount } from '../../../etcd/member.ts'
import { duration } from '../../../kit/duration.ts'
import type { SnapshotManifest } from '../../../snapshot/manifest.ts'
import { count, listed } from '../../format-text.ts'

export interface RestoreNews {
  readonly name: string
  readonly manifest: SnapshotManifest
  readonly now: Date
  /** What etcd knows now, by who knows most of it. Nothing when nobody answers. */
  readonly current: KeyCount | undefined
  readonly members: readonly string[]
  /** Hosts on which something stops. */
  readonly hosts: readonly string[]
}

/** What a restore means, for a person who has to agree to it. */
export function restoreText({ name, manifest, now, current, members, hosts }: RestoreNews): string {
  const { cluster, created, revision, keys } = manifest
  const age = duration(now.getTime() - Date.parse(created))
  return [
    `${cluster.name} becomes again what it was ${age} ago: ${name}, taken ${created}, ${count(keys, 'key')}, revision ${revision}`,
    `  lost: ${loss(revision, current)}`,
    `  stops for a while: kubelets, controllers, API servers and etcd on ${listed(hosts)}; pods go on running`,
    `  pods that are younger than the snapshot end, and those that were deleted since come again`,
    `  etcd’s data of now stays on ${listed(members)} in ${dirname(etcdData)}/before-restore-TIME`,
    '',
  ].join('\n')
}

function loss(revision: number, current: KeyCount | undefined): string {
  if (current === undefined) return 'all that was written since; no member of etcd answers to say how much'
  const changes = Math.max(0, current.revision - revision)
  return changes === 0
    ? `nothing: etcd is at revision ${current.revision}`
    : `${count(changes, 'change')}, all that was written since: etcd is at revision ${current.revision} with ${count(current.keys, 'key')}`
}
