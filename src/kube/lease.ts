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

/** A lease as it was last seen. */
export interface Observed {
  readonly lease: Lease | undefined
  /** Since when it has been as it is, by our own clock: those of others may be wrong. */
  readonly since: number
  /** As it was before somebody took it away; whoever held it may still act on it. */
  readonly former?: Lease | undefined
}

export interface Contender {
  /** Another one for each process, also after a restart. */
  readonly identity: string
  /** How long it holds without being renewed, in milliseconds. */
  readonly duration: number
  /** The number of what we hold shall be at least this. */
  readonly floor?: number
}

/** Two clocks: one that others read, and one that only goes on. */
export interface Moment {
  readonly wall: Date
  /** Milliseconds from any point in time on. */
  readonly monotonic: number
}

export type LeaseAction =
  /** There is none yet. */
  | { readonly kind: 'create'; readonly spec: LeaseSpec }
  /** It is ours. */
  | { readonly kind: 'renew'; readonly spec: LeaseSpec }
  /** It is nobody's any more. */
  | { readonly kind: 'take'; readonly spec: LeaseSpec }
  | {
      readonly kind: 'wait'
      readonly holder: string
      /** Milliseconds until it is free, if its holder does nothing. */
      readonly left: number
    }

export function decideLease({ lease, since, former }: Observed, me: Contender, now: Moment): LeaseAction {
  const time = microTime(now.wall)
  const own = {
    holderIdentity: me.identity,
    leaseDurationSeconds: Math.max(1, Math.ceil(me.duration / 1000)),
    acquireTime: time,
    renewTime: time,
    leaseTransitions: me.floor ?? 0,
  }
  const seen = lease ?? former
  if (seen === undefined) return { kind: 'create', spec: own }
  const { holderIdentity, leaseDurationSeconds, acquireTime, leaseTransitions } = seen.spec ?? {}
  const transitions = leaseTransitions ?? 0
  if (holderIdentity === me.identity) {
    const kept = {
      acquireTime: acquireTime ?? time,
      leaseTransitions: Math.max(transitions, own.leaseTransitions),
    }
    return { kind: 'renew', spec: { ...own, ...kept } }
  }
  const left = since + (leaseDurationSeconds ?? 0) * 1000 - now.monotonic
  if (holderIdentity && left > 0) return { kind: 'wait', holder: holderIdentity, left }
  return { kind: 'take', spec: { ...own, leaseTransitions: Math.max(transitions + 1, own.leaseTransitions) } }
}

/** As Kubernetes writes times of leases: always with six digits after the point. */
export function microTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z')
}
