import { z } from 'zod'
import { readVersioned } from '../contract/versioned.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { KubeClient } from '../kube/client.ts'
import { isKubeError } from '../kube/kube-error.ts'
import { type Kind, kubeObject, type Manifest } from '../kube/object.ts'
import { findObject, listObjects } from '../kube/read-objects.ts'
import type { KubeCallOptions } from '../kube/request.ts'
import { createObject, deleteKubeObject, replaceObject } from '../kube/write-objects.ts'
import { type Inventory, inventoryFormat, toInventory, serializeInventory } from './inventory.ts'

const namespace = 'kube-system'
const label = 'hyperkube.dev/addon-inventory'
const field = 'inventory'

const schema = kubeObject.extend({ data: z.record(z.string(), z.string()).optional() })
type ConfigMap = z.infer<typeof schema>
const configMap: Kind<ConfigMap> = { apiVersion: 'v1', kind: 'ConfigMap', schema }

/**
 * An inventory that was read from the cluster. It can be replaced only while the version in the cluster is
 * unchanged.
 */
export interface StoredInventory extends Inventory {
  readonly text: string
  readonly resourceVersion: string | undefined
  readonly uid: string | undefined
}

/** Reads the inventories of all addons that have applied objects to the cluster. */
export async function readInventories(
  client: KubeClient,
  options: KubeCallOptions = {},
): Promise<StoredInventory[]> {
  const { items } = await listObjects(client, configMap, { namespace, labels: label, ...options })
  return items.map(parseStored)
}

/**
 * Creates an inventory or replaces the previous one. Throws KUBE_CONFLICT if it has changed since it was
 * read, so that entries of another writer are not lost.
 */
export async function writeInventory(
  client: KubeClient,
  inventory: Inventory,
  previous: StoredInventory | undefined,
  options: KubeCallOptions = {},
): Promise<StoredInventory> {
  const text = serializeInventory(inventory)
  if (text === previous?.text) return previous
  const manifest = buildInventoryManifest(inventory.addon, text, previous?.resourceVersion)
  try {
    const write = previous === undefined ? createObject : replaceObject
    return parseStored(schema.parse(await write(client, manifest, options)))
  } catch (error) {
    if (!isKubeError(error, 'KUBE_CONFLICT')) throw error
    // If the response to a write was lost, its retry conflicts with the write itself. The inventory is then
    // already stored.
    const current = await findObject(client, configMap, manifest.metadata, options)
    if (current?.data?.[field] === text) return parseStored(current)
    throw error
  }
}

/** Deletes the inventory only if it has not changed since it was read. */
export async function removeInventory(
  client: KubeClient,
  { addon, uid, resourceVersion }: StoredInventory,
  options: KubeCallOptions = {},
): Promise<void> {
  await deleteKubeObject(
    client,
    configMap,
    { namespace, name: formatInventoryName(addon) },
    {
      ...options,
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
  )
}

function formatInventoryName(addon: string): string {
  return `hyperkube-addon-${addon}`
}

function buildInventoryManifest(addon: string, text: string, resourceVersion: string | undefined): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: formatInventoryName(addon), namespace, labels: { [label]: addon }, resourceVersion },
    data: { [field]: text },
  }
}

function parseStored({ metadata, data }: ConfigMap): StoredInventory {
  const text = data?.[field] ?? ''
  try {
    const inventory = toInventory(readVersioned(inventoryFormat, JSON.parse(text)))
    if (formatInventoryName(inventory.addon) !== metadata.name)
      throw new Error(`it belongs to addon ${inventory.addon}`)
    return { ...inventory, text, resourceVersion: metadata.resourceVersion, uid: metadata.uid }
  } catch (cause) {
    const message = `ConfigMap ${namespace}/${metadata.name}: the inventory is damaged or was changed`
    throw new HyperkubeError('ADDON_INVENTORY_NOT_READ', message, {
      hint: `restore it from a backup; or delete it, but then objects removed from the addon stay in the cluster: kubectl -n ${namespace} delete configmap ${metadata.name}`,
      cause,
    })
  }
}
