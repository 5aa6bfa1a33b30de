import type { NodePlan } from '../../contract/node-plan.ts'
import type { Claim } from '../../contract/request.ts'
import type { Identity } from '../../identity/identity.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { mapWithConcurrency } from '../../kit/concurrency.ts'
import type { Ca } from '../../pki/ca.ts'
import { createSigner, type SignRequest } from '../../pki/sign.ts'
import { maxPlanRequests } from './plan-requests.ts'
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
  const findSigner = createSignerLookup(identity, now)
  const signed = await mapWithConcurrency(maxPlanRequests, plans, async (plan) => {
    const session = sessions.get(plan.host)
    if (session === undefined) return [plan.host, {}] as const
    const { requests } = await session.request(
      { type: 'certificate-requests', claim, plan, renew },
      'certificate-requests',
    )
    return [plan.host, await signRequests(plan, requests, findSigner)] as const
  })
  return new Map(signed)
}

/** Returns the signer of a CA; undefined if there is no CA of this name. */
type FindSigner = (ca: string) => Promise<SignRequest> | undefined

/** Creates a lookup that checks each CA once, when the first host needs it. */
function createSignerLookup({ cas }: Identity, now: Date): FindSigner {
  const byName = new Map<string, Ca>(
    [cas.kubernetes, cas.etcd, cas.frontProxy].map((ca) => [ca.name, ca] as const),
  )
  const signers = new Map<string, Promise<SignRequest>>()
  return (name) => {
    const ca = byName.get(name)
    if (ca === undefined) return undefined
    const signer = signers.get(name) ?? createSigner(ca, now)
    signers.set(name, signer)
    return signer
  }
}

/**
 * Signs the requests of a host. Requests and results are keyed by certificate path. The content of a
 * certificate comes only from the plan, so a request for an unplanned path is an error.
 */
async function signRequests(
  plan: NodePlan,
  requests: Readonly<Record<string, string>>,
  findSigner: FindSigner,
): Promise<Record<string, string>> {
  const specs = new Map(
    plan.components.flatMap(({ certificates }) => certificates).map((spec) => [spec.certificateFile, spec]),
  )
  const signed = Object.entries(requests).map(async ([path, request]) => {
    const spec = specs.get(path)
    const signer = findSigner(spec?.ca ?? '')
    if (spec === undefined || signer === undefined) {
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
    const sign = await signer
    return [path, await sign(request, { subject, names, usages, lifetime })] as const
  })
  return Object.fromEntries(await Promise.all(signed))
}
