import type { KubeClient } from './client.ts'
import { isKubeError } from './kube-error.ts'
import { type Lease, leases, type LeaseSpec } from './lease.ts'
import type { Manifest, Place } from './object.ts'
import { parseAnswer } from './parse-response.ts'
import { find } from './read-objects.ts'
import { create, replace } from './write-objects.ts'

/** Where one lease is kept. */
export interface LeaseStore {
  find(signal: AbortSignal | undefined): Promise<Lease | undefined>
  /** In the place of the very one that was found, or as a new one; undefined when somebody was faster. */
  write(
    found: Lease | undefined,
    spec: LeaseSpec,
    signal: AbortSignal | undefined,
  ): Promise<Lease | undefined>
}

/** A request gets so many milliseconds: it must not outlast what it is about. */
export function kubeLeaseStore(client: KubeClient, place: Required<Place>, timeout: number): LeaseStore {
  const { apiVersion, kind, schema } = leases
  const { namespace, name } = place
  return {
    find: async (signal) => find(client, leases, place, { signal, timeout }),
    async write(found, spec, signal) {
      const object: Manifest =
        found === undefined
          ? { apiVersion, kind, metadata: { namespace, name }, spec }
          : { ...found, spec: { ...found.spec, ...spec } }
      try {
        const written = await (found === undefined ? create : replace)(client, object, { signal, timeout })
        return parseAnswer(schema, written, `lease ${name}`)
      } catch (error) {
        if (isKubeError(error, 'KUBE_CONFLICT')) return undefined
        throw error
      }
    },
  }
}
