import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { inspectCertificate } from '../../pki/inspect.ts'
import { isValid } from '../../pki/lifetime.ts'
import { pairFault, readPair } from '../apply/installed-key-pair.ts'
import { readPending } from '../apply/pending-certificate-store.ts'
import type { Host } from '../host/host.ts'

export interface Due {
  /** Good, but not for long; or half put in place, by somebody who was cut. */
  readonly due: PlannedCertificate[]
  /** Of no use any more to ask for another one with: that takes an operator. */
  readonly expired: PlannedCertificate[]
}

/** The certificates of a plan whose time has come. What somebody has changed is not among them. */
export async function dueCertificates(host: Host, plan: NodePlan): Promise<Due> {
  const found: Due = { due: [], expired: [] }
  for (const place of plan.components.flatMap(({ certificates }) => certificates)) {
    const fault = await pairFault(host, place, plan)
    if (fault === undefined) continue
    if (fault.due) found[(await isGood(host, place)) ? 'due' : 'expired'].push(place)
    else if (await isHalfway(host, place)) found.due.push(place)
  }
  return found
}

async function isGood(host: Host, place: PlannedCertificate): Promise<boolean> {
  const { certificate = '' } = await readPair(host, place)
  return isValid(inspectCertificate(certificate), host.clock.now())
}

/** The new key is in its place already, and its certificate has come. */
async function isHalfway(host: Host, place: PlannedCertificate): Promise<boolean> {
  const pending = await readPending(host, place)
  if (pending?.certificate === undefined) return false
  return (await readPair(host, place)).privateKey === pending.privateKey.revealText()
}
