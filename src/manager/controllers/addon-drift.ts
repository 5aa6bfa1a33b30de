import { z } from 'zod'
import { type Addon, computeAddonDigest, labelManifests } from '../../addons/addon.ts'
import { readInventories } from '../../addons/inventory-store.ts'
import type { Inventory } from '../../addons/inventory.ts'
import { findLiveObjects, type LiveObjects } from '../../addons/live-objects.ts'
import {
  describeReference,
  formatReferenceKey,
  type ObjectReference,
  parseGroup,
  toReference,
} from '../../addons/reference.ts'
import { truncateList } from '../../kit/text.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type KubeObject, satisfies } from '../../kube/object.ts'
import { defaultFieldManager } from '../../kube/client.ts'
import { type ControllerDefinition, type ControllerRule, createReconciler } from '../controller.ts'

/**
 * Kinds of addon objects that the controller may read. Secrets are left out, because permission to read them
 * would cover all Secrets of the cluster.
 */
export const readableKinds = [
  ['v1', 'ConfigMap', 'configmaps'],
  ['v1', 'Namespace', 'namespaces'],
  ['v1', 'Service', 'services'],
  ['v1', 'ServiceAccount', 'serviceaccounts'],
  ['apiregistration.k8s.io/v1', 'APIService', 'apiservices'],
  ['apps/v1', 'DaemonSet', 'daemonsets'],
  ['apps/v1', 'Deployment', 'deployments'],
  ['apps/v1', 'StatefulSet', 'statefulsets'],
  ['networking.k8s.io/v1', 'IngressClass', 'ingressclasses'],
  ['policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets'],
  ['rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles'],
  ['rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', 'clusterrolebindings'],
  ['rbac.authorization.k8s.io/v1', 'Role', 'roles'],
  ['rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings'],
  ['storage.k8s.io/v1', 'StorageClass', 'storageclasses'],
] as const

const readRules: readonly ControllerRule[] = [
  ...Map.groupBy(readableKinds, ([apiVersion]) => parseGroup(apiVersion)),
].map(([group, kinds]) => ({
  ...{ apiGroups: [group], resources: kinds.map(([, , plural]) => plural) },
  verbs: ['get', 'list'],
}))

/**
 * Milliseconds between two checks of the addons. While there is drift, addonDrift checks at the shorter
 * `reportIntervalMs`, so that its repeated events stay in one event series.
 */
export const addonCheckIntervalMs = 10 * 60_000

const reportIntervalMs = 5 * 60_000

/**
 * A controller that only reports drift; its RBAC rules do not allow writes. addonReconciler also repairs
 * drift.
 */
export const addonDrift: ControllerDefinition = {
  name: 'addon-drift',
  aliases: ['addons'],
  summary: 'reports objects of addons that are missing or were changed since they were applied',
  byDefault: true,
  watches: [],
  rules: [...readRules, buildEventRule()],
  build(context) {
    const { queue, client, events, metrics, settings } = context
    const desiredAddons = new Map((settings.addons ?? []).map((addon) => [addon.name, addon]))
    const drifts = new Map<string, number>()
    metrics.gauges('hyperkube_addon_drift_objects', 'Objects of addons that are missing or changed.', () =>
      [...drifts].map(([addon, count]) => [{ addon }, count] as const),
    )
    queue.add(queueKey)
    return createReconciler(context, {
      async reconcile() {
        const inventories = await readInventories(client)
        drifts.clear()
        for (const inventory of inventories) {
          const { addon } = inventory
          const drift = await detectInventoryDrift(client, inventory, desiredAddons.get(addon))
          drifts.set(addon, drift.length)
          if (drift.length > 0) await events.record(toInventoryReference(addon), buildDriftEvent(drift))
        }
        const isClean = [...drifts.values()].every((count) => count === 0)
        return { requeueAfter: isClean ? addonCheckIntervalMs : reportIntervalMs }
      },
    })
  },
}

const queueKey = 'addons'

type DesiredManifests = Pick<Addon, 'name' | 'manifests'>

/**
 * Finds drift of an addon. Missing objects are found for every addon, changed objects only if the desired
 * manifests are known.
 */
async function detectInventoryDrift(
  client: KubeClient,
  inventory: Inventory,
  desired: DesiredManifests | undefined,
): Promise<AddonObjectDrift[]> {
  // Without a digest, an apply is in progress or was interrupted. Missing objects are then not drift.
  if (inventory.appliedDigest === undefined) return []
  if (desired === undefined) {
    const entries = inventory.entries.filter(isReadableKind)
    return findMissingObjects(entries, await findLiveObjects(client, entries))
  }
  const { name, manifests } = desired
  if (inventory.appliedDigest !== computeAddonDigest({ name, manifests })) return []
  const readable = { name, manifests: manifests.filter(isReadableKind) }
  return detectAddonDrift(readable, await findLiveObjects(client, readable.manifests.map(toReference)))
}

/** True if the controller may read objects of this kind. */
function isReadableKind({
  apiVersion,
  kind,
}: {
  readonly apiVersion: string
  readonly kind: string
}): boolean {
  return readableKinds.some(([version, name]) => version === apiVersion && name === kind)
}

function buildDriftEvent(drift: readonly AddonObjectDrift[]) {
  const texts = drift.map(({ description, state }) =>
    state === 'gone' ? `${description} is missing` : `${description} was changed`,
  )
  const note = `${truncateList(texts, 5)}; to restore: hyperkube up`
  return { type: 'Warning', reason: 'AddonDrift', action: 'CheckAddon', note } as const
}

/** Returns the object for events about an addon: the ConfigMap that contains its inventory. */
export function toInventoryReference(addon: string): KubeObject {
  const metadata = { namespace: 'kube-system', name: `hyperkube-addon-${addon}` }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata }
}

export function buildEventRule() {
  return {
    apiGroups: ['events.k8s.io'],
    resources: ['events'],
    verbs: ['create', 'patch'],
    namespace: 'kube-system',
  }
}

interface AddonObjectDrift {
  /** Description for people, for example Deployment kube-system/coredns. */
  readonly description: string
  readonly state: 'gone' | 'changed'
}

/**
 * Finds objects that differ from the applied manifests. A difference counts only if another field manager
 * wrote the object after hyperkube. Other differences are values that the API normalized.
 */
export function detectAddonDrift(addon: Addon, live: LiveObjects): AddonObjectDrift[] {
  return labelManifests(addon).flatMap((manifest): AddonObjectDrift[] => {
    const object = live.get(formatReferenceKey(toReference(manifest)))
    const description = describeReference(toReference(manifest))
    if (object === undefined) return [{ description, state: 'gone' }]
    return satisfies(object, manifest) || !isChangedByOthers(object)
      ? []
      : [{ description, state: 'changed' }]
  })
}

/** Finds objects of the inventory that no longer exist. */
function findMissingObjects(entries: readonly ObjectReference[], live: LiveObjects): AddonObjectDrift[] {
  return entries
    .filter((entry) => !live.has(formatReferenceKey(entry)))
    .map((entry) => ({ description: describeReference(entry), state: 'gone' }))
}

const managed = z.looseObject({
  managedFields: z
    .array(
      z.looseObject({
        manager: z.string().default(''),
        time: z.string().default(''),
        subresource: z.string().default(''),
      }),
    )
    .default([]),
})

/** True if another field manager has written more than the status since hyperkube's last apply. */
function isChangedByOthers({ metadata }: KubeObject): boolean {
  const entries = managed.parse(metadata).managedFields.filter(({ subresource }) => subresource === '')
  const ownTimes = entries
    .filter(({ manager }) => manager === defaultFieldManager)
    .map(({ time }) => Date.parse(time))
  return entries.some(
    ({ manager, time }) => manager !== defaultFieldManager && !(Date.parse(time) < Math.max(...ownTimes)),
  )
}
