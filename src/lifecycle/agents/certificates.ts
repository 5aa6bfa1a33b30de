import type { NodePlan } from '../../contract/node-plan.ts'
import type { Claim } from '../../contract/request.ts'
import type { Identity } from '../../identity/identity.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { settleAll } from '../../kit/concurrency.ts'
import type { Ca } from '../../pki/ca.ts'
import { signRequest } from '../../pki/sign.ts'
import type { Session } from './session.ts'

/** Signed certificates of each host (key: host name), as PEM by file path. */
export type HostCertificates = ReadonlyMap<string, Readonly<Record<string, string>>>

/**
 * Collects the certificate requests of hosts and signs them. Private keys are created on their host and never
 * leave it. With `renew`, hosts request all of their certificates again.
 */
export async function signHostCertificates(
  identity: Identity,
  plans: readonly NodePlan[],
  sessions: ReadonlyMap<string, Session>,
  claim: Claim,
  now: Date,
  renew = false,
): Promise<HostCertificates> {
  const signed = plans.map(async (plan) => {
    const session = sessions.get(plan.host)
    if (session === undefined) return [plan.host, {}] as const
    const { requests } = await session.request(
      { type: 'certificate-requests', claim, plan, renew },
      'certificate-requests',
    )
    return [plan.host, await signRequests(identity, plan, requests, now)] as const
  })
  return new Map(await settleAll(signed))
}

/**
 * Signs the requests of a host. Requests and results are keyed by certificate path. The content of a
 * certificate comes only from the plan, so a request for an unplanned path is an error.
 */
async function signRequests(
  { cas }: Identity,
  plan: NodePlan,
  requests: Readonly<Record<string, string>>,
  now: Date,
): Promise<Record<string, string>> {
  const specs = new Map(
    plan.components.flatMap(({ certificates }) => certificates).map((spec) => [spec.certificateFile, spec]),
  )
  const byName: Readonly<Record<string, Ca>> = {
    kubernetes: cas.kubernetes,
    etcd: cas.etcd,
    'front-proxy': cas.frontProxy,
  }
  const signed = Object.entries(requests).map(async ([path, request]) => {
    const spec = specs.get(path)
    const ca = byName[spec?.ca ?? '']
    if (spec === undefined || ca === undefined) {
      throw new HyperkubeError(
        'PKI_REQUEST_NOT_PLANNED',
        `the host requests a certificate that its plan does not contain: ${path}`,
        {
          host: plan.host,
          hint: 'check the plan: hyperkube plan; if the plan is correct, do not trust this host',
        },
      )
    }
    const { subject, names, usages, lifetime } = spec
    return [path, await signRequest(ca, request, { subject, names, usages, lifetime }, now)] as const
  })
  return Object.fromEntries(await Promise.all(signed))
}
