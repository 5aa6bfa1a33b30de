import { z } from 'zod'
import type { KubeClient } from './client.ts'
import { isKubeError } from './kube-error.ts'
import { type Kind, kubeObject, type Manifest, type NamespacedName, parseKubeResponse } from './object.ts'
import { findObject } from './read-objects.ts'
import { createObject, replaceObject } from './write-objects.ts'

const leaseSpec = z.looseObject({
  holderIdentity: z.string().nullish(),
  leaseDurationSeconds: z.int().nullish(),
  acquireTime: z.string().nullish(),
  renewTime: z.string().nullish(),
  leaseTransitions: z.int().nullish(),
})
const leaseSchema = kubeObject.extend({ spec: leaseSpec.nullish() })
export type Lease = z.infer<typeof leaseSchema>

export const leases: Kind<Lease> = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  schema: leaseSchema,
}

export interface LeaseSpec {
  readonly holderIdentity: string
  readonly leaseDurationSeconds: number
  readonly acquireTime: string
  readonly renewTime: string
  readonly leaseTransitions: number
}

/** A lease as it was last read. */
export interface LeaseObservation {
  readonly lease: Lease | undefined
  /**
   * Monotonic time at which this process first read this version of the lease. The times in the Lease object
   * are not used, because the clock of the holder may be wrong.
   */
  readonly since: number
  /** The last lease before the object was deleted. Its holder may still act as leader. */
  readonly previous?: Lease | undefined
}

export interface Contender {
  /** Unique for each process, so a restarted process is a new contender. */
  readonly identity: string
  /** Lease duration in milliseconds. */
  readonly duration: number
  /** Minimum leaseTransitions value that this contender writes. */
  readonly minTransitions?: number
}

/** Current time: wall time, which is written to the Lease, and monotonic time, for measuring durations. */
export interface LeaseTime {
  readonly wall: Date
  /** Milliseconds since an arbitrary point in time. */
  readonly monotonic: number
}

export type LeaseAction =
  /** The lease does not exist yet. */
  | { readonly kind: 'create'; readonly spec: LeaseSpec }
  /** This contender already holds the lease. */
  | { readonly kind: 'renew'; readonly spec: LeaseSpec }
  /** The lease is released or expired. */
  | { readonly kind: 'take'; readonly spec: LeaseSpec }
  | {
      readonly kind: 'wait'
      readonly holder: string
      /** Milliseconds until the lease expires if it is not renewed. */
      readonly left: number
    }

export function decideLease(
  { lease, since, previous }: LeaseObservation,
  me: Contender,
  now: LeaseTime,
): LeaseAction {
  const time = formatMicroTime(now.wall)
  const desired = {
    holderIdentity: me.identity,
    leaseDurationSeconds: Math.max(1, Math.ceil(me.duration / 1000)),
    acquireTime: time,
    renewTime: time,
    leaseTransitions: me.minTransitions ?? 0,
  }
  const known = lease ?? previous
  if (known === undefined) return { kind: 'create', spec: desired }
  const { holderIdentity, leaseDurationSeconds, acquireTime, leaseTransitions } = known.spec ?? {}
  const transitions = leaseTransitions ?? 0
  if (holderIdentity === me.identity) {
    const preserved = {
      acquireTime: acquireTime ?? time,
      leaseTransitions: Math.max(transitions, desired.leaseTransitions),
    }
    return { kind: 'renew', spec: { ...desired, ...preserved } }
  }
  const left = since + (leaseDurationSeconds ?? 0) * 1000 - now.monotonic
  if (holderIdentity && left > 0) return { kind: 'wait', holder: holderIdentity, left }
  return {
    kind: 'take',
    spec: { ...desired, leaseTransitions: Math.max(transitions + 1, desired.leaseTransitions) },
  }
}

/** Formats a time as Kubernetes MicroTime, which always has six decimal places. */
export function formatMicroTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z')
}

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
