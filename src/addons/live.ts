import { settleAll } from '../kit/settle.ts'
import type { KubeClient } from '../kube/client.ts'
import { isKubeError } from '../kube/kube-error.ts'
import { kindOf, type KubeObject } from '../kube/object.ts'
import { find } from '../kube/read.ts'
import type { CallOptions } from '../kube/request.ts'
import { groupOf, keyOf, type Reference } from './reference.ts'

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

/** Those that are there, by key. */
export async function lookAll(
  client: KubeClient,
  references: readonly Reference[],
  options: CallOptions = {},
): Promise<ReadonlyMap<string, KubeObject>> {
  const found = await settleAll(
    references.map(async (reference) => {
      const object = await look(client, reference, options)
      return object === undefined ? [] : [[keyOf(reference), object] as const]
    }),
  )
  return new Map(found.flat())
}
