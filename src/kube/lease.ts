import { z } from 'zod'
import { type Kind, kubeObject } from './object.ts'

const spec = z.looseObject({
  holderIdentity: z.string().nullish(),
  leaseDurationSeconds: z.int().nullish(),
  acquireTime: z.string().nullish(),
  renewTime: z.string().nullish(),
  leaseTransitions: z.int().nullish(),
})
const schema = kubeObject.extend({ spec: spec.nullish() })
export type Lease = z.infer<typeof schema>

export const leases: Kind<Lease> = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', schema }

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
   * Monotonic time at which this process first read this version. The times in the lease are not used,
   * because other clocks may be wrong.
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
