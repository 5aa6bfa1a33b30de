import type { Finding } from '../contract/finding.ts'
import { parseVersion } from './version.ts'

/** A kind that Kubernetes no longer serves in one of its API versions. */
export interface RemovedKind {
  readonly apiVersion: string
  readonly kind: string
  /** First minor without it. */
  readonly removedIn: string
  /** API version to use instead; undefined if there is none. */
  readonly successor: string | undefined
}

const list = (
  removedIn: string,
  apiVersion: string,
  successor: string | undefined,
  ...kinds: readonly string[]
): RemovedKind[] => kinds.map((kind) => ({ apiVersion, kind, removedIn, successor }))

/**
 * Kinds that Kubernetes 1.33 or a later minor removed. The source is the lifecycle of each type in the module
 * k8s.io/api. If the module of a minor no longer has the type, this minor is `removedIn`.
 */
export const removedKinds: readonly RemovedKind[] = [
  ...list('1.33', 'authentication.k8s.io/v1beta1', 'authentication.k8s.io/v1', 'SelfSubjectReview'),
  ...list('1.33', 'networking.k8s.io/v1alpha1', 'networking.k8s.io/v1', 'IPAddress', 'ServiceCIDR'),
  ...list(
    '1.34',
    'admissionregistration.k8s.io/v1beta1',
    'admissionregistration.k8s.io/v1',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
  ),
  ...list(
    '1.34',
    'resource.k8s.io/v1alpha3',
    'resource.k8s.io/v1',
    'DeviceClass',
    'ResourceClaim',
    'ResourceClaimTemplate',
    'ResourceSlice',
  ),
  ...list('1.35', 'storage.k8s.io/v1alpha1', 'storage.k8s.io/v1', 'VolumeAttributesClass'),
  ...list('1.35', 'storagemigration.k8s.io/v1alpha1', undefined, 'StorageVersionMigration'),
  ...list('1.37', 'certificates.k8s.io/v1alpha1', 'certificates.k8s.io/v1beta1', 'ClusterTrustBundle'),
  ...list('1.37', 'networking.k8s.io/v1beta1', 'networking.k8s.io/v1', 'IPAddress', 'ServiceCIDR'),
  ...list('1.37', 'storage.k8s.io/v1beta1', 'storage.k8s.io/v1', 'VolumeAttributesClass'),
]

/** Lists the kinds that this version or an older version removed. */
export function listKindsRemovedUntil(version: string): RemovedKind[] {
  const [, minor] = parseVersion(version)
  return removedKinds.filter(({ removedIn }) => parseVersion(removedIn)[1] <= minor)
}

/**
 * A manifest that an operator maintains: in an addon of cluster.yml, or applied to the cluster with kubectl.
 */
export interface KeptManifest {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** File or URL of the addon, or undefined for an object in the cluster. */
  readonly source?: string
}

/**
 * Finds manifests whose API version this Kubernetes version no longer serves. A manifest in a file is an
 * error, because hyperkube could no longer apply the file. For an object in the cluster it is a warning: the
 * object stays, but its manifest can no longer be applied.
 */
export function findRemovedManifests(version: string, manifests: readonly KeptManifest[]): Finding[] {
  const removed = new Map(listKindsRemovedUntil(version).map((one) => [`${one.apiVersion} ${one.kind}`, one]))
  return manifests.flatMap(({ apiVersion, kind, name, source }) => {
    const found = removed.get(`${apiVersion} ${kind}`)
    if (found === undefined) return []
    const subject =
      source === undefined ? `${kind} ${name} was applied as` : `${source} has ${kind} ${name} in`
    const successor = found.successor === undefined ? 'delete it' : `use ${found.successor}`
    return [
      {
        code: 'UPGRADE_MANIFEST_REMOVED',
        severity: source === undefined ? 'warning' : 'error',
        message: `${subject} ${apiVersion}, which Kubernetes ${found.removedIn} no longer serves`,
        hint: `change the manifest and apply it: ${successor}`,
      },
    ]
  })
}
