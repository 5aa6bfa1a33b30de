import { mapInBatches, settleAll } from '../kit/concurrency.ts'
import type { KubeClient } from '../kube/client.ts'
import { isKubeError } from '../kube/kube-error.ts'
import { createUntypedKind, type KubeObject } from '../kube/object.ts'
import { findObject, listObjects } from '../kube/read-objects.ts'
import type { KubeCallOptions } from '../kube/request.ts'
import { addonLabel } from './addon.ts'
import { formatReferenceKey, type ObjectReference, parseGroup, toReference } from './reference.ts'

/**
 * Returns the object, or undefined if it does not exist. Other versions of its group are tried too, because
 * the API may no longer serve the version that was applied.
 */
export async function findLiveObject(
  client: KubeClient,
  reference: ObjectReference,
  options: KubeCallOptions = {},
): Promise<KubeObject | undefined> {
  const { apiVersion, kind } = reference
  try {
    return await findObject(client, createUntypedKind(apiVersion, kind), reference, options)
  } catch (error) {
    if (!isKubeError(error, 'KUBE_KIND_UNKNOWN')) throw error
  }
  const others = await client.discovery.versions(parseGroup(apiVersion), options)
  for (const other of others.filter((version) => version !== apiVersion)) {
    try {
      return await findObject(client, createUntypedKind(other, kind), reference, options)
    } catch (error) {
      if (!isKubeError(error, 'KUBE_KIND_UNKNOWN')) throw error
    }
  }
  return undefined
}

/**
 * Number of objects of an addon that are requested together. The timeout of a request includes its wait for a
 * connection, and there are only a few connections, so thousands of requests together would end in timeouts.
 */
export const batchSize = 100

/** Existing objects by reference key. */
export type LiveObjects = ReadonlyMap<string, KubeObject>

/** Reads the referenced objects. Objects that do not exist are left out. */
export async function findLiveObjects(
  client: KubeClient,
  references: readonly ObjectReference[],
  options: KubeCallOptions = {},
): Promise<LiveObjects> {
  const groups = Map.groupBy(references, ({ apiVersion, kind, namespace = '' }) =>
    [apiVersion, kind, namespace].join(' '),
  )
  const found = await settleAll([...groups.values()].map(async (group) => findGroup(client, group, options)))
  return new Map(found.flat().map((object) => [formatReferenceKey(toReference(object)), object]))
}

/**
 * Minimum size of a group that is read with one list request. Objects of smaller groups are read one by one.
 */
const minGroupForList = 3

/**
 * Reads objects of the same kind and namespace. Objects that the list by addon label does not contain are
 * read by name.
 */
async function findGroup(
  client: KubeClient,
  group: readonly ObjectReference[],
  options: KubeCallOptions,
): Promise<KubeObject[]> {
  const labelled = group.length < minGroupForList ? [] : await listLabelled(client, group[0], options)
  const known = new Map(labelled.map((object) => [object.metadata.name, object]))
  const objects = await mapInBatches(
    batchSize,
    group,
    async (reference) => known.get(reference.name) ?? findLiveObject(client, reference, options),
  )
  return objects.flatMap((object) => object ?? [])
}

async function listLabelled(
  client: KubeClient,
  sample: ObjectReference | undefined,
  options: KubeCallOptions,
): Promise<readonly KubeObject[]> {
  if (sample === undefined) return []
  const { apiVersion, kind, namespace } = sample
  const scope = namespace === undefined ? {} : { namespace }
  try {
    return (
      await listObjects(client, createUntypedKind(apiVersion, kind), {
        ...options,
        ...scope,
        labels: addonLabel,
      })
    ).items
  } catch (error) {
    if (isKubeError(error, 'KUBE_KIND_UNKNOWN')) return []
    throw error
  }
}
