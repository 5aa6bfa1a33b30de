import type { KubeClient } from './client.ts'
import { isKubeError } from './kube-error.ts'
import { type Lease, leases, type LeaseSpec } from './lease.ts'
import type { Manifest, NamespacedName } from './object.ts'
import { parseKubeResponse } from './parse-response.ts'
import { findObject } from './read-objects.ts'
import { createObject, replaceObject } from './write-objects.ts'

/** Storage of one lease. */
export interface LeaseStore {
  find(signal: AbortSignal | undefined): Promise<Lease | undefined>
  /**
   * Replaces the lease if it is unchanged since `found`, or creates it. Returns undefined if another
   * contender wrote first.
   */
  write(
    found: Lease | undefined,
    spec: LeaseSpec,
    signal: AbortSignal | undefined,
  ): Promise<Lease | undefined>
}

/**
 * Creates a store that uses the API. `timeout` (milliseconds) limits each request, because a request must not
 * take longer than the lease lasts.
 */
export function createKubeLeaseStore(
  client: KubeClient,
  ref: Required<NamespacedName>,
  timeout: number,
): LeaseStore {
  const { apiVersion, kind, schema } = leases
  const { namespace, name } = ref
  return {
    find: async (signal) => findObject(client, leases, ref, { signal, timeout }),
    async write(found, spec, signal) {
      const object: Manifest =
        found === undefined
          ? { apiVersion, kind, metadata: { namespace, name }, spec }
          : { ...found, spec: { ...found.spec, ...spec } }
      try {
        const written = await (found === undefined ? createObject : replaceObject)(client, object, {
          signal,
          timeout,
        })
        return parseKubeResponse(schema, written, `lease ${name}`)
      } catch (error) {
        if (isKubeError(error, 'KUBE_CONFLICT')) return undefined
        throw error
      }
    },
  }
}
