import { parseVersion } from '../../catalog/version.ts'
import { etcdDataDirectory } from '../../contract/etcd-restore.ts'
import { type Disk, findDisk } from '../../contract/find-disk.ts'
import type { Finding } from '../../contract/finding.ts'
import { uploadDirectory } from '../../contract/host-paths.ts'
import type { Identity } from '../../identity/identity.ts'
import { encryptionKeys, type NamedKey } from '../../identity/trusted-keys.ts'
import { joinNames } from '../../kit/text.ts'
import { databaseFile, type SnapshotManifest } from '../../snapshot/manifest.ts'

export interface RestoreFacts {
  readonly manifest: SnapshotManifest
  /** The identity inside the snapshot. */
  readonly previousIdentity: Identity
  readonly currentIdentity: Identity
  /** Version in cluster.yml. */
  readonly kubernetes: string
  /** Hosts that are etcd members but not in cluster.yml. */
  readonly leftOut: readonly string[]
  /** Disks of the members in cluster.yml, by host name. */
  readonly disks: ReadonlyMap<string, readonly Disk[]>
}

/**
 * Checks whether restoring a valid snapshot would break the cluster. The operator can ignore every finding.
 */
export function checkRestore(facts: RestoreFacts): Finding[] {
  return [...checkVersion(facts), ...checkKeys(facts), ...checkLeftOut(facts), ...checkSpace(facts)]
}

function checkVersion({ manifest, kubernetes }: RestoreFacts): Finding[] {
  const { kubernetes: snapshotVersion } = manifest.versions
  const [[, snapshotMinor], [, desiredMinor]] = [parseVersion(snapshotVersion), parseVersion(kubernetes)]
  if (snapshotMinor === desiredMinor) return []
  const message = `the snapshot is from Kubernetes ${snapshotVersion}, but cluster.yml has ${kubernetes}`
  return snapshotMinor > desiredMinor
    ? [
        buildVersionFinding(
          'error',
          `${message}; Kubernetes ${kubernetes} may not be able to read all objects`,
          formatVersionHint(snapshotVersion),
        ),
      ]
    : [
        buildVersionFinding(
          'warning',
          `${message}; the restore includes an upgrade of the objects`,
          formatVersionHint(snapshotVersion),
        ),
      ]
}

function buildVersionFinding(severity: Finding['severity'], message: string, hint: string): Finding {
  return { code: 'ETCD_RESTORE_VERSION', severity, message, hint }
}

function formatVersionHint(version: string): string {
  return `set spec.kubernetes to ${version}, then: hyperkube lock; or extract cluster.yml and cluster.lock from the snapshot: hyperkube etcd snapshot unpack FILE --key FILE`
}

/**
 * Reports encryption keys of the snapshot that the current identity lacks. Without these keys, encrypted data
 * in the snapshot could not be read after the restore.
 */
function checkKeys({ previousIdentity, currentIdentity }: RestoreFacts): Finding[] {
  const currentKeys = encryptionKeys(currentIdentity)
  const isKnown = (one: NamedKey): boolean =>
    currentKeys.some(
      ({ name, key }) => name === one.name && Buffer.from(key.reveal()).equals(one.key.reveal()),
    )
  if (encryptionKeys(previousIdentity).every(isKnown)) return []
  return [
    {
      code: 'ETCD_RESTORE_KEYS',
      severity: 'error',
      message:
        'cluster.identity lacks the encryption key of the snapshot; its Secrets would be unreadable after the restore',
      hint: 'extract the identity from the snapshot and restore with it: hyperkube etcd snapshot unpack FILE --key FILE --to DIRECTORY',
    },
  ]
}

function checkLeftOut({ leftOut }: RestoreFacts): Finding[] {
  if (leftOut.length === 0) return []
  const [are, they] = leftOut.length === 1 ? ['is an etcd member', 'it'] : ['are etcd members', 'they']
  return [
    {
      code: 'ETCD_RESTORE_LEFT_OUT',
      severity: 'error',
      message: `${joinNames(leftOut)} ${are} but not in cluster.yml; ${they} would keep running the previous cluster`,
      hint: 'remove such hosts first: hyperkube up; if they stay off for good: --ignore ETCD_RESTORE_LEFT_OUT',
    },
  ]
}

const mebibyte = 2 ** 20
/** Size of the write-ahead log that etcd reserves in a new data directory, and of its other files. */
const walBytes = 128 * mebibyte

/**
 * Reports members without space for the restored data. The previous data is kept, so its space does not become
 * free. Without this check, the disk would be full only after the restore has stopped the cluster.
 */
function checkSpace({ manifest, disks }: RestoreFacts): Finding[] {
  const { size } = manifest.files[databaseFile]
  return [...disks].flatMap(([host, hostDisks]) => {
    const needs = [
      { disk: findDisk(hostDisks, uploadDirectory), bytes: size },
      { disk: findDisk(hostDisks, etcdDataDirectory), bytes: size + walBytes },
    ]
    return hostDisks.flatMap((disk): Finding[] => {
      const needed = needs.reduce((sum, need) => (need.disk === disk ? sum + need.bytes : sum), 0)
      if (needed <= disk.availableBytes) return []
      const [free, required] = [disk.availableBytes, needed].map((bytes) => Math.ceil(bytes / mebibyte))
      return [
        {
          code: 'ETCD_RESTORE_SPACE',
          severity: 'error',
          message: `${disk.path} has ${free} MiB free, and the restore needs ${required} MiB there`,
          hint: 'free space: old etcd data of earlier restores is in /var/lib/etcd/before-restore-*',
          host,
        },
      ]
    })
  })
}
