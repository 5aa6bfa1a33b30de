import { parseVersion } from '../../catalog/version.ts'
import type { Finding } from '../../contract/finding.ts'
import type { Identity } from '../../identity/identity.ts'
import { encryptionKeys, type NamedKey } from '../../identity/trusted-keys.ts'
import { joinNames } from '../../kit/text.ts'
import type { SnapshotManifest } from '../../snapshot/manifest.ts'

export interface RestoreFacts {
  readonly manifest: SnapshotManifest
  /** The identity inside the snapshot. */
  readonly previousIdentity: Identity
  readonly currentIdentity: Identity
  /** Version in cluster.yml. */
  readonly kubernetes: string
  /** Hosts that are etcd members but not in cluster.yml. */
  readonly leftOut: readonly string[]
}

/**
 * Checks whether restoring a valid snapshot would break the cluster. The operator can ignore every finding.
 */
export function checkRestore(facts: RestoreFacts): Finding[] {
  return [...checkVersion(facts), ...checkKeys(facts), ...checkLeftOut(facts)]
}

function checkVersion({ manifest, kubernetes }: RestoreFacts): Finding[] {
  const { kubernetes: snapshotVersion } = manifest.versions
  const [[, snapshotMinor], [, desiredMinor]] = [parseVersion(snapshotVersion), parseVersion(kubernetes)]
  if (snapshotMinor === desiredMinor) return []
  const message = `the snapshot is of Kubernetes ${snapshotVersion}, and cluster.yml says ${kubernetes}`
  return snapshotMinor > desiredMinor
    ? [
        buildVersionFinding(
          'error',
          `${message}: it may hold what the older one cannot read`,
          formatVersionHint(snapshotVersion),
        ),
      ]
    : [
        buildVersionFinding(
          'warning',
          `${message}: objects are read as after an upgrade`,
          formatVersionHint(snapshotVersion),
        ),
      ]
}

function buildVersionFinding(severity: Finding['severity'], message: string, hint: string): Finding {
  return { code: 'ETCD_RESTORE_VERSION', severity, message, hint }
}

function formatVersionHint(version: string): string {
  return `cluster.yml and cluster.lock of then are in the snapshot: hyperkube etcd snapshot unpack; or set spec.kubernetes to ${version}, then: hyperkube lock`
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
        'Secrets in the snapshot are encrypted with a key that has been replaced since, and could not be read',
      hint: 'the identity of then is in the snapshot: hyperkube etcd snapshot unpack; restore with that one',
    },
  ]
}

function checkLeftOut({ leftOut }: RestoreFacts): Finding[] {
  if (leftOut.length === 0) return []
  const [are, verb] = leftOut.length === 1 ? ['is a member', 'is'] : ['are members', 'are']
  return [
    {
      code: 'ETCD_RESTORE_LEFT_OUT',
      severity: 'error',
      message: `${joinNames(leftOut)} ${are} of etcd and ${verb} not in cluster.yml: what runs there would go on with the cluster of before`,
      hint: 'let them leave first: hyperkube up; if they are off for good: --ignore ETCD_RESTORE_LEFT_OUT',
    },
  ]
}
