import type { NodePlan } from '../contract/node-plan.ts'
import type { Identity } from '../identity/identity.ts'
import type { Claim } from '../contract/request.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { Authority } from '../pki/ca.ts'
import { settleAll } from '../kit/settle-all.ts'
import { signRequest } from '../pki/sign.ts'
import type { Session } from './session.ts'

/** PEM by path, by name of host. */
export type Certificates = ReadonlyMap<string, Readonly<Record<string, string>>>

/** Keys are made on the hosts that use them, and only requests come here; with `renew` for all of their certificates. */
export async function certify(
  identity: Identity,
  plans: readonly NodePlan[],
  sessions: ReadonlyMap<string, Session>,
  claim: Claim,
  now: Date,
  renew = false,
): Promise<Certificates> {
  const signed = plans.map(async (plan) => {
    const session = sessions.get(plan.host)
    if (session === undefined) return [plan.host, {}] as const
    const { requests } = await session.ask(
      { type: 'certificate-requests', claim, plan, renew },
      'certificate-requests',
    )
    return [plan.host, await signFor(identity, plan, requests, now)] as const
  })
  return new Map(await settleAll(signed))
}

/**
 * Signs what a host asks for, by the path of each certificate. What a certificate says comes from the plan alone; a host
 * that asks for a path that is not in it gets nothing.
 */
async function signFor(
  { authorities }: Identity,
  plan: NodePlan,
  requests: Readonly<Record<string, string>>,
  now: Date,
): Promise<Record<string, string>> {
  const wishes = new Map(
    plan.components.flatMap(({ certificates }) => certificates).map((wish) => [wish.certificateFile, wish]),
  )
  const byName: Readonly<Record<string, Authority>> = {
    kubernetes: authorities.kubernetes,
    etcd: authorities.etcd,
    'front-proxy': authorities.frontProxy,
  }
  const signed = Object.entries(requests).map(async ([path, request]) => {
    const wish = wishes.get(path)
    const authority = byName[wish?.authority ?? '']
    if (wish === undefined || authority === undefined) {
      throw new HyperkubeError(
        'PKI_REQUEST_NOT_PLANNED',
        `it asks for a certificate that is not planned: ${path}`,
        {
          host: plan.host,
          hint: 'plan again; if the plan is right, do not trust the host that asks',
        },
      )
    }
    const { subject, names, usages, lifetime } = wish
    return [path, await signRequest(authority, request, { subject, names, usages, lifetime }, now)] as const
  })
  return Object.fromEntries(await Promise.all(signed))
}
