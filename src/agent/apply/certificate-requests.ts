import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { makeRequest } from '../../pki/request.ts'
import type { Host } from '../host/host.ts'
import { authoritiesOf } from './plan-cas.ts'
import { certificateFaults } from './certificate-problems.ts'
import { ledgerFor } from './diff-host.ts'
import { pairFault } from './installed-key-pair.ts'
import { dropPending, type Pending, readPending, writePending } from './pending-certificate-store.ts'
import { waitingPair } from './pending-certificate.ts'

/**
 * A request, as PEM, for each certificate of a plan that is missing, due or not as wished, by the path of its file; with
 * `renew` for all of them. A key that waits for its certificate already is asked for again, not made anew. Of some
 * `places` alone, where they are given.
 */
export async function certificateRequests(
  host: Host,
  plan: NodePlan,
  renew = false,
  places = plan.components.flatMap(({ certificates }) => certificates),
): Promise<Record<string, string>> {
  // A plan of another cluster is refused before it leaves any trace.
  await ledgerFor(host, plan)
  const requests: Record<string, string> = {}
  for (const place of places) {
    const request = await requestFor(host, place, plan, renew)
    if (request !== undefined) requests[place.certificateFile] = request
  }
  return requests
}

async function requestFor(
  host: Host,
  place: PlannedCertificate,
  plan: NodePlan,
  renew: boolean,
): Promise<string | undefined> {
  const fault = await pairFault(host, place, plan)
  // What is in place and was not forgotten is not to be signed for a second life; what is half in place is to be ended.
  const isWhole = fault === undefined || fault.due
  const pending = isWhole ? await waitingPair(host, place) : await readPending(host, place)
  if (pending !== undefined) return isAnswered(host, place, plan, pending) ? undefined : pending.request
  if (fault === undefined && !renew) return undefined
  // What may be left of the one before is of no use to the new key.
  await dropPending(host, place)
  const made = await makeRequest(place.keyFile, place.subject, place.names)
  await writePending(host, place, made)
  return made.request
}

/** Whether its certificate has come, and is still as wished: the authority may have been replaced since. */
function isAnswered(
  { clock }: Host,
  place: PlannedCertificate,
  plan: NodePlan,
  { certificate, privateKey }: Pending,
): boolean {
  if (certificate === undefined) return false
  const pair = { certificate, privateKey: privateKey.revealText() }
  return certificateFaults(pair, place, authoritiesOf(plan, place.authority), clock.now()).length === 0
}
