import type { Finding } from '../contract/finding.ts'
import { formatCount } from '../kit/text.ts'
import type { ApiInventory, ResourceInventory } from './inventory.ts'

/** How many objects of a resource a new version of Kubernetes adds or changes by itself. */
export interface ResourceChange {
  /** Plural and group, for example clusterroles.rbac.authorization.k8s.io. */
  readonly resource: string
  readonly added: number
  readonly changed: number
}

export interface InventoryComparison {
  readonly findings: readonly Finding[]
  readonly changes: readonly ResourceChange[]
}

/**
 * Resources whose default objects kube-apiserver manages. A newer kube-apiserver removes default objects of
 * earlier versions, so missing objects are not reported.
 */
const managedByServer: ReadonlySet<string> = new Set([
  'apiservices.apiregistration.k8s.io',
  'flowschemas.flowcontrol.apiserver.k8s.io',
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io',
])

/** Compares what a cluster serves before and after an upgrade to `version`. */
export function compareInventories(
  before: ApiInventory,
  after: ApiInventory,
  version: string,
): InventoryComparison {
  const findings: Finding[] = []
  const changes: ResourceChange[] = []
  for (const [resource, old] of before.resources) {
    const now = after.resources.get(resource)
    findings.push(...checkResource(resource, old, now, version))
    const change = now === undefined ? undefined : countChanges(resource, old, now)
    if (change !== undefined) changes.push(change)
  }
  return { findings: [...findings, ...findRemovedVersions(before, after, version)], changes }
}

function checkResource(
  resource: string,
  old: ResourceInventory,
  now: ResourceInventory | undefined,
  version: string,
): Finding[] {
  if (old.error !== undefined) {
    return [
      {
        code: 'REHEARSAL_NOT_COMPARED',
        severity: 'warning',
        message: `${resource} cannot be listed before the upgrade: ${old.error}`,
        hint: `if a conversion webhook is named, the rehearsal cannot call it; list the objects on the cluster: hyperkube kubectl get ${resource} -A`,
      },
    ]
  }
  if (now === undefined) {
    if (old.objects.size === 0) return []
    return [
      {
        code: 'UPGRADE_API_REMOVED',
        severity: 'error',
        message: `Kubernetes ${version} does not serve ${resource}, and the cluster stores ${formatObjects(old.objects)}`,
        hint: `migrate or delete these objects first: hyperkube kubectl get ${resource} -A`,
      },
    ]
  }
  if (now.error !== undefined) {
    return [
      {
        code: 'REHEARSAL_UNREADABLE',
        severity: 'error',
        message: `Kubernetes ${version} cannot list ${resource}: ${now.error}`,
        hint: `correct the objects before the upgrade: hyperkube kubectl get ${resource} -A`,
      },
    ]
  }
  const missing = [...old.objects.keys()].filter((key) => !now.objects.has(key))
  if (missing.length === 0 || managedByServer.has(resource)) return []
  return [
    {
      code: 'REHEARSAL_OBJECTS_LOST',
      severity: 'error',
      message: `${resource} that exist now do not exist with Kubernetes ${version}: ${formatNames(missing)}`,
      hint: 'do not upgrade; report these objects with the output of: hyperkube support-bundle',
    },
  ]
}

function countChanges(
  resource: string,
  old: ResourceInventory,
  now: ResourceInventory,
): ResourceChange | undefined {
  const added = [...now.objects.keys()].filter((key) => !old.objects.has(key)).length
  // Objects are compared only in the same API version, because another API version has other fields.
  const isComparable = old.apiVersion === now.apiVersion
  const changed = isComparable
    ? [...old.objects].filter(([key, { digest }]) => (now.objects.get(key)?.digest ?? digest) !== digest)
        .length
    : 0
  return added + changed === 0 ? undefined : { resource, added, changed }
}

/** Finds API versions that are not served after the upgrade and with which clients wrote stored objects. */
function findRemovedVersions(before: ApiInventory, after: ApiInventory, version: string): Finding[] {
  const removed = new Map<string, { readonly objects: string[]; readonly clients: Set<string> }>()
  for (const [resource, { objects }] of before.resources) {
    for (const [key, { writers }] of objects) {
      for (const [apiVersion, client] of writers) {
        if (!before.apiVersions.has(apiVersion) || after.apiVersions.has(apiVersion)) continue
        const use = removed.get(apiVersion) ?? { objects: [], clients: new Set() }
        removed.set(apiVersion, use)
        use.objects.push(`${resource} ${key}`)
        use.clients.add(client)
      }
    }
  }
  return [...removed].map(([apiVersion, { objects, clients }]) => ({
    code: 'UPGRADE_API_REMOVED',
    severity: 'error',
    message: `Kubernetes ${version} does not serve ${apiVersion}, with which ${[...clients].toSorted().join(', ')} wrote ${formatNames(objects)}`,
    hint: `change these clients and manifests to a newer API version; if no client uses ${apiVersion} any more: --ignore UPGRADE_API_REMOVED`,
  }))
}

function formatObjects(objects: ReadonlyMap<string, unknown>): string {
  return `${formatCount(objects.size, 'object')}: ${formatNames([...objects.keys()])}`
}

/** Formats up to five names, and how many more there are. */
function formatNames(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ')
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown
}
