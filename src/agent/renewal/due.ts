import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { inspectCertificate } from '../../pki/inspect.ts'
import { isValid } from '../../pki/lifetime.ts'
import { findPairProblem, readInstalledPair } from '../apply/installed-key-pair.ts'
import { readPendingCertificate } from '../apply/pending-certificate-store.ts'
import type { Host } from '../host/host.ts'

export interface DueCertificates {
  /** Still valid but close to expiry, or only partly installed because a run was interrupted. */
  readonly due: PlannedCertificate[]
  /** Too late to prove a renewal request: an operator must renew these. */
  readonly expired: PlannedCertificate[]
}

/**
 * Finds the certificates of a plan that must be renewed. Certificates that were changed by hand are not
 * included.
 */
export async function findDueCertificates(host: Host, plan: NodePlan): Promise<DueCertificates> {
  const found: DueCertificates = { due: [], expired: [] }
  for (const planned of plan.components.flatMap(({ certificates }) => certificates)) {
    const problem = await findPairProblem(host, planned, plan)
    if (problem === undefined) continue
    if (problem.due) found[(await isStillValid(host, planned)) ? 'due' : 'expired'].push(planned)
    else if (await isPartlyInstalled(host, planned)) found.due.push(planned)
  }
  return found
}

async function isStillValid(host: Host, planned: PlannedCertificate): Promise<boolean> {
  const { certificate = '' } = await readInstalledPair(host, planned)
  return isValid(inspectCertificate(certificate), host.clock.now())
}

/** The new key is installed already, and its certificate has been issued. */
async function isPartlyInstalled(host: Host, planned: PlannedCertificate): Promise<boolean> {
  const pending = await readPendingCertificate(host, planned)
  if (pending?.certificate === undefined) return false
  return (await readInstalledPair(host, planned)).privateKey === pending.privateKey.revealText()
}
