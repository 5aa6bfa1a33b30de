import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { makeRequest } from '../../pki/request.ts'
import type { Host } from '../host/host.ts'
import { findPlanCas } from './plan-cas.ts'
import { findCertificateProblems } from './certificate-problems.ts'
import { readLedgerFor } from './diff-host.ts'
import { findPairProblem } from './installed-key-pair.ts'
import {
  deletePendingCertificate,
  type PendingCertificate,
  readPendingCertificate,
  writePendingRequest,
} from './pending-certificate-store.ts'
import { findPendingReplacement } from './pending-certificate.ts'

/**
 * Returns a PEM request for each certificate that is missing, due or not as planned, keyed by the path of the
 * certificate file; with `renew` for every certificate. A pending key is requested again instead of creating
 * a new one. If certificates are passed, only those are considered.
 */
export async function createCertificateRequests(
  host: Host,
  plan: NodePlan,
  renew = false,
  planned = plan.components.flatMap(({ certificates }) => certificates),
): Promise<Record<string, string>> {
  // Refuses a plan of another cluster before anything is written.
  await readLedgerFor(host, plan)
  const requests: Record<string, string> = {}
  for (const plannedCertificate of planned) {
    const request = await findOrMakeRequest(host, plannedCertificate, plan, renew)
    if (request !== undefined) requests[plannedCertificate.certificateFile] = request
  }
  return requests
}

async function findOrMakeRequest(
  host: Host,
  plannedCertificate: PlannedCertificate,
  plan: NodePlan,
  renew: boolean,
): Promise<string | undefined> {
  const problem = await findPairProblem(host, plannedCertificate, plan)
  // A pair that is installed but still pending must not be signed a second time. A half installed pair must
  // be completed.
  const isUsable = problem === undefined || problem.due
  const pending = isUsable
    ? await findPendingReplacement(host, plannedCertificate)
    : await readPendingCertificate(host, plannedCertificate)
  if (pending !== undefined)
    return hasValidCertificate(host, plannedCertificate, plan, pending) ? undefined : pending.request
  if (problem === undefined && !renew) return undefined
  // Leftovers of the previous request do not belong to the new key.
  await deletePendingCertificate(host, plannedCertificate)
  const made = await makeRequest(
    plannedCertificate.keyFile,
    plannedCertificate.subject,
    plannedCertificate.names,
  )
  await writePendingRequest(host, plannedCertificate, made)
  return made.request
}

/** True if the certificate arrived and still matches the plan: the CA may have been replaced since. */
function hasValidCertificate(
  { clock }: Host,
  plannedCertificate: PlannedCertificate,
  plan: NodePlan,
  { certificate, privateKey }: PendingCertificate,
): boolean {
  if (certificate === undefined) return false
  const pair = { certificate, privateKey: privateKey.revealText() }
  return (
    findCertificateProblems(pair, plannedCertificate, findPlanCas(plan, plannedCertificate.ca), clock.now())
      .length === 0
  )
}
