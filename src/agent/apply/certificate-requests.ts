import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { makeRequest } from '../../pki/request.ts'
import type { LinuxHost } from '../host/host.ts'
import { ledgerFor } from './diff-host.ts'
import { pairFault } from './installed-pair.ts'
import { readPending, writePending } from './pending.ts'

/**
 * A request, as PEM, for each certificate of a plan that is missing, due or not as wished, by the path of its file. A
 * key that waits for its certificate already is asked for again, not made anew.
 */
export async function certificateRequests(host: LinuxHost, plan: NodePlan): Promise<Record<string, string>> {
  // A plan of another cluster is refused before it leaves any trace.
  await ledgerFor(host, plan)
  const requests: Record<string, string> = {}
  for (const place of plan.components.flatMap(({ certificates }) => certificates)) {
    const request = await requestFor(host, place, plan)
    if (request !== undefined) requests[place.certificateFile] = request
  }
  return requests
}

async function requestFor(
  host: LinuxHost,
  place: PlannedCertificate,
  plan: NodePlan,
): Promise<string | undefined> {
  if ((await pairFault(host, place, plan)) === undefined) return undefined
  const pending = await readPending(host, place)
  if (pending !== undefined) return pending.certificate === undefined ? pending.request : undefined
  const made = await makeRequest(place.keyFile, place.subject, place.names)
  await writePending(host, place, made)
  return made.request
}
