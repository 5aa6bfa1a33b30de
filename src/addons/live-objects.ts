import { settleAll } from '../kit/settle-all.ts'
import type { KubeClient } from '../kube/client.ts'
import { isKubeError } from '../kube/kube-error.ts'
import { kindOf, type KubeObject } from '../kube/object.ts'
import { find, list } from '../kube/read-objects.ts'
import type { CallOptions } from '../kube/request.ts'
import { addonLabel } from './addon.ts'
import { groupOf, keyOf, type Reference, referenceOf } from './reference.ts'

/**
 * The object, undefined when there is none. A cluster may have ceased to serve the version in which it was put there, and
 * still have the object: it is looked for in every other one.
 */
export async function look(
  client: KubeClient,
  reference: Reference,
  options: CallOptions = {},
): Promise<KubeObject | undefined> {
  const { apiVersion, kind } = reference
  try {
    return await find(client, kindOf(apiVersion, kind), reference, options)
  } catch (error) {
    if (!isKubeError(error, 'KUBE_KIND_UNKNOWN')) throw error
  }
  const others = await client.discovery.versions(groupOf(apiVersion), options)
  for (const other of others.filter((version) => version !== apiVersion)) {
    try {
      return await find(client, kindOf(other, kind), reference, options)
    } catch (error) {
      if (!isKubeError(error, 'KUBE_KIND_UNKNOWN')) throw error
    }
  }
  return undefined
}

/** By key. */
export type Live = ReadonlyMap<string, KubeObject>

/** Those that are there. */
export async function lookAll(
  client: KubeClient,
  references: readonly Reference[],
  options: CallOptions = {},
): Promise<Live> {
  const groups = Map.groupBy(references, ({ apiVersion, kind, namespace = '' }) =>
    [apiVersion, kind, namespace].join(' '),
  )
  const found = await settleAll(
    [...groups.values()].map(async (group) => lookAtGroup(client, group, options)),
  )
  return new Map(found.flat().map((object) => [keyOf(referenceOf(object)), object]))
}

/** Fewer are asked for one by one. */
const worthAList = 3

/** Of one kind and namespace. What bears no label of ours in spite of all is asked for by its name. */
async function lookAtGroup(
  client: KubeClient,
  group: readonly Reference[],
  options: CallOptions,
): Promise<KubeObject[]> {
  const labelled = group.length < worthAList ? [] : await listLabelled(client, group[0], options)
  const known = new Map(labelled.map((object) => [object.metadata.name, object]))
  const objects = await settleAll(
    group.map(async (reference) => known.get(reference.name) ?? look(client, reference, options)),
  )
  return objects.flatMap((object) => object ?? [])
}

async function listLabelled(
  client: KubeClient,
  any: Reference | undefined,
  options: CallOptions,
): Promise<readonly KubeObject[]> {
  if (any === undefined) return []
  const { apiVersion, kind, namespace } = any
  const inside = namespace === undefined ? {} : { namespace }
  try {
    return (await list(client, kindOf(apiVersion, kind), { ...options, ...inside, labels: addonLabel })).items
  } catch (error) {
    if (isKubeError(error, 'KUBE_KIND_UNKNOWN')) return []
    throw error
  }
}
