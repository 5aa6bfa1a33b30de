import { numbersOf } from '../../../catalog/version.ts'
import type { Finding } from '../../../contract/finding.ts'
import type { Identity } from '../../../identity/identity.ts'
import { encryptionKeys, type NamedKey } from '../../../identity/trusted-keys.ts'
import type { SnapshotManifest } from '../../../snapshot/manifest.ts'
import { listed } from '../../format-text.ts'

export interface RestoreFacts {
  readonly manifest: SnapshotManifest
  /** The identity that is in the snapshot. */
  readonly former: Identity
  readonly now: Identity
  /** Of cluster.yml. */
  readonly kubernetes: string
  /** Hosts that etcd counts among its members, and cluster.yml does not. */
  readonly leftOut: readonly string[]
}

/** What would make of a good snapshot a bad cluster. All of it can be overlooked by who knows better. */
export function restoreFindings(facts: RestoreFacts): Finding[] {
  return [...versionFindings(facts), ...keyFindings(facts), ...leftOutFindings(facts)]
}

function versionFindings({ manifest, kubernetes }: RestoreFacts): Finding[] {
  const { kubernetes: before } = manifest.versions
  const [[, minor], [, wished]] = [numbersOf(before), numbersOf(kubernetes)]
  if (minor === wished) return []
  const message = `the snapshot is of Kubernetes ${before}, and cluster.yml says ${kubernetes}`
  return minor > wished
    ? [finding('error', `${message}: it may hold what the older one cannot read`, fitting(before))]
    : [finding('warning', `${message}: objects are read as after an upgrade`, fitting(before))]
}

function finding(severity: Finding['severity'], message: string, hint: string): Finding {
  return { code: 'ETCD_RESTORE_VERSION', severity, message, hint }
}

function fitting(version: string): string {
  return `cluster.yml and cluster.lock of then are in the snapshot: hyperkube etcd snapshot unpack; or set spec.kubernetes to ${version}, then: hyperkube lock`
}

/** What was encrypted with a key that is gone can never be read again. */
function keyFindings({ former, now }: RestoreFacts): Finding[] {
  const known = encryptionKeys(now)
  const isKnown = (one: NamedKey): boolean =>
    known.some(({ name, key }) => name === one.name && Buffer.from(key.reveal()).equals(one.key.reveal()))
  if (encryptionKeys(former).every(isKnown)) return []
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

function leftOutFindings({ leftOut }: RestoreFacts): Finding[] {
  if (leftOut.length === 0) return []
  const [are, not] = leftOut.length === 1 ? ['is a member', 'is'] : ['are members', 'are']
  return [
    {
      code: 'ETCD_RESTORE_LEFT_OUT',
      severity: 'error',
      message: `${listed(leftOut)} ${are} of etcd and ${not} not in cluster.yml: what runs there would go on with the cluster of before`,
      hint: 'let them leave first: hyperkube up; if they are off for good: --ignore ETCD_RESTORE_LEFT_OUT',
    },
  ]
}
