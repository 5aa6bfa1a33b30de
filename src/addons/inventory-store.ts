import { z } from 'zod'
import { readVersioned } from '../contract/versioned.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { KubeClient } from '../kube/client.ts'
import { isKubeError } from '../kube/kube-error.ts'
import { type Kind, kubeObject, type Manifest } from '../kube/object.ts'
import { find, list } from '../kube/read-objects.ts'
import type { CallOptions } from '../kube/request.ts'
import { create, remove, replace } from '../kube/write-objects.ts'
import { type Inventory, inventoryFormat, inventoryOf, inventoryText } from './inventory.ts'

const namespace = 'kube-system'
const label = 'hyperkube.dev/addon-inventory'
const field = 'inventory'

const schema = kubeObject.extend({ data: z.record(z.string(), z.string()).optional() })
type ConfigMap = z.infer<typeof schema>
const configMap: Kind<ConfigMap> = { apiVersion: 'v1', kind: 'ConfigMap', schema }

/** An inventory as it was read: it is only replaced as long as it is still that. */
export interface StoredInventory extends Inventory {
  readonly text: string
  readonly resourceVersion: string | undefined
  readonly uid: string | undefined
}

/** Of all addons that have put something into the cluster. */
export async function readInventories(
  client: KubeClient,
  options: CallOptions = {},
): Promise<StoredInventory[]> {
  const { items } = await list(client, configMap, { namespace, labels: label, ...options })
  return items.map(storedOf)
}

/**
 * In the place of the former one, or of none. Fails with KUBE_CONFLICT when somebody else has written it since it was
 * read: what they have put there would be forgotten.
 */
export async function writeInventory(
  client: KubeClient,
  inventory: Inventory,
  former: StoredInventory | undefined,
  options: CallOptions = {},
): Promise<StoredInventory> {
  const text = inventoryText(inventory)
  if (text === former?.text) return former
  const manifest = manifestOf(inventory.addon, text, former?.resourceVersion)
  try {
    const write = former === undefined ? create : replace
    return storedOf(schema.parse(await write(client, manifest, options)))
  } catch (error) {
    if (!isKubeError(error, 'KUBE_CONFLICT')) throw error
    // It may be our own, of which the answer was lost.
    const now = await find(client, configMap, manifest.metadata, options)
    if (now?.data?.[field] === text) return storedOf(now)
    throw error
  }
}

/** That very one, and not what somebody else has put in its place. */
export async function removeInventory(
  client: KubeClient,
  { addon, uid, resourceVersion }: StoredInventory,
  options: CallOptions = {},
): Promise<void> {
  await remove(
    client,
    configMap,
    { namespace, name: nameOf(addon) },
    {
      ...options,
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
  )
}

function nameOf(addon: string): string {
  return `hyperkube-addon-${addon}`
}

function manifestOf(addon: string, text: string, resourceVersion: string | undefined): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: nameOf(addon), namespace, labels: { [label]: addon }, resourceVersion },
    data: { [field]: text },
  }
}

function storedOf({ metadata, data }: ConfigMap): StoredInventory {
  const text = data?.[field] ?? ''
  try {
    const inventory = inventoryOf(readVersioned(inventoryFormat, JSON.parse(text)))
    if (nameOf(inventory.addon) !== metadata.name) throw new Error(`it is of addon ${inventory.addon}`)
    return { ...inventory, text, resourceVersion: metadata.resourceVersion, uid: metadata.uid }
  } catch (cause) {
    const message = `ConfigMap ${namespace}/${metadata.name}: this is not what hyperkube has written there`
    throw new HyperkubeError('ADDON_INVENTORY_NOT_READ', message, {
      hint: `restore it from a copy; or delete it, and what the addon no longer wishes will stay: kubectl -n ${namespace} delete configmap ${metadata.name}`,
      cause,
    })
  }
}
