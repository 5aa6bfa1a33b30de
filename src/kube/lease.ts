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

/** A lease as last read. */
export interface LeaseObservation {
  readonly lease: Lease | undefined
  /** When this version was first read, by our monotonic clock. Clocks of other contenders may be wrong. */
  readonly since: number
  /** The last lease before it was deleted. Its holder may still act on it. */
  readonly previous?: Lease | undefined
}

export interface Contender {
  /** Unique for each process, also after a restart. */
  readonly identity: string
  /** How long the lease holds without renewal, in milliseconds. */
  readonly duration: number
  /** Lower bound of our transitions number. */
  readonly minTransitions?: number
}

/** Wall clock, which other contenders read, and monotonic clock. */
export interface LeaseTime {
  readonly wall: Date
  /** Milliseconds since an arbitrary point in time. */
  readonly monotonic: number
}

export type LeaseAction =
  /** There is no lease yet. */
  | { readonly kind: 'create'; readonly spec: LeaseSpec }
  /** The lease is ours. */
  | { readonly kind: 'renew'; readonly spec: LeaseSpec }
  /** The lease is free or expired. */
  | { readonly kind: 'take'; readonly spec: LeaseSpec }
  | {
      readonly kind: 'wait'
      readonly holder: string
      /** Milliseconds until the lease expires without a renewal. */
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

/** Formats a time as Kubernetes MicroTime: always six decimal places. */
export function formatMicroTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z')
}
