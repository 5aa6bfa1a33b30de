import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { makeRequest } from '../../pki/request.ts'
import type { Host } from '../host/host.ts'
import { findCertificateProblems } from '../resources/certificate-problems.ts'
import { readLedgerFor } from './diff-host.ts'
import { findPairProblem, findPlanCas } from '../resources/installed-key-pair.ts'
import {
  deletePendingCertificate,
  findPendingReplacement,
  type PendingCertificate,
  readPendingCertificate,
  writePendingRequest,
} from '../resources/pending-certificate-store.ts'

/**
 * Returns a PEM request for each certificate that is missing, due for renewal or not as planned, keyed by
 * certificate file. `renew` requests all `planned` certificates. A pending request is returned again instead
 * of creating a new key.
 */
export async function createCertificateRequests(
  host: Host,
  plan: NodePlan,
  renew = false,
  planned = plan.components.flatMap(({ certificates }) => certificates),
): Promise<Record<string, string>> {
  // Throws for a plan of another cluster before anything is written.
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
  // If the installed key pair is usable, only a pending pair that differs from it counts. Otherwise any
  // pending pair counts, because it may complete an interrupted installation.
  const isUsable = problem === undefined || problem.due
  const pending = isUsable
    ? await findPendingReplacement(host, plannedCertificate)
    : await readPendingCertificate(host, plannedCertificate)
  if (pending !== undefined)
    return hasValidCertificate(host, plannedCertificate, plan, pending) ? undefined : pending.request
  if (problem === undefined && !renew) return undefined
  // Pending files of an earlier request do not belong to the new key, so they are deleted.
  await deletePendingCertificate(host, plannedCertificate)
  const made = await makeRequest(
    plannedCertificate.keyFile,
    plannedCertificate.subject,
    plannedCertificate.names,
  )
  await writePendingRequest(host, plannedCertificate, made)
  return made.request
}

/**
 * True if the signed certificate has arrived and matches the plan. If the CA was replaced after the request,
 * the certificate no longer matches.
 */
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
