import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { signRequest } from '../../pki/sign.ts'
import { lastPlan } from '../apply/applied-plan.ts'
import { renewCertificates } from '../apply/install-renewed.ts'
import type { Host } from '../host/host.ts'
import { isTaken } from '../loop/is-locked-by-other.ts'
import { ownRun, type OwnWork } from '../loop/start-own-run.ts'
import type { Look } from '../loop/run-loop.ts'
import type { HostWork } from '../server/dispatch.ts'
import { isHeld } from '../operator-lock/operator-lock.ts'
import type { ClaimStore } from '../operator-lock/operator-lock-store.ts'
import type { Runs } from '../runs/runs.ts'
import { askOthers } from './request-signature.ts'
import { dueCertificates } from './due.ts'
import { clientOfNode } from './node-api.ts'
import { ownAuthority } from './local-cas.ts'
import { lookEvery, type Rhythm } from './intervals.ts'

export interface RenewalScene {
  readonly host: Host
  readonly work: Pick<HostWork, 'certificateRequests' | 'restoring'>
  readonly runs: Runs
  readonly claims: Pick<ClaimStore, 'held'>
  readonly rhythm: Rhythm
  readonly say: (text: string) => void
  readonly signal: AbortSignal
}

/**
 * Renews what is due on this host. Nothing of it is remembered but on the disk, in the API and in the journal: a look
 * that is cut is gone on with by the next one, or by an operator.
 */
export async function renewOwn(scene: RenewalScene): Promise<Look> {
  const { host, work, runs, rhythm } = scene
  if (runs.busy || (await isTaken(scene))) return { next: rhythm.soon }
  const plan = await lastPlan(host)
  if (plan === undefined) return { next: rhythm.own, troubles: [] }
  const { due, expired } = await dueCertificates(host, plan)
  const troubles: unknown[] = expired.length === 0 ? [] : [tooLate(expired)]
  const next = lookEvery(plan, rhythm)
  if (due.length === 0) return { next, troubles }
  const requests = await work.certificateRequests(plan, false, due)
  const { certificates, waiting } = await signed(scene, plan, due, requests, troubles)
  // What nobody has to sign any more came before somebody was cut.
  const ready = due.filter(
    ({ certificateFile: file }) => certificates.has(file) || requests[file] === undefined,
  )
  if (ready.length > 0) await install(scene, plan, ready, certificates, troubles)
  return { next: waiting ? Math.min(rhythm.soon, next) : next, troubles }
}

interface Signed {
  readonly certificates: ReadonlyMap<string, string>
  /** Whether somebody is still to answer. */
  readonly waiting: boolean
}

async function signed(
  { host, signal }: RenewalScene,
  plan: NodePlan,
  due: readonly PlannedCertificate[],
  requests: Readonly<Record<string, string>>,
  troubles: unknown[],
): Promise<Signed> {
  using api = await clientOfNode(host, plan, signal)
  const certificates = new Map<string, string>()
  let waiting = false
  for (const place of due) {
    const request = requests[place.certificateFile]
    if (request === undefined) continue
    try {
      const own = await ownAuthority(host, place.authority)
      if (own === undefined && api === undefined) throw noWay(place)
      const { subject, names, usages, lifetime } = place
      const certificate =
        own === undefined
          ? api && (await askOthers(host, api, place, request))
          : await signRequest(own.authority, request, { subject, names, usages, lifetime }, host.clock.now())
      if (certificate === undefined) waiting = true
      else certificates.set(place.certificateFile, certificate)
    } catch (error) {
      signal.throwIfAborted()
      troubles.push(error)
    }
  }
  return { certificates, waiting }
}

async function install(
  { host, runs, claims, say, signal }: RenewalScene,
  plan: NodePlan,
  places: readonly PlannedCertificate[],
  certificates: ReadonlyMap<string, string>,
  troubles: unknown[],
): Promise<void> {
  const renew: OwnWork = async (run, emit, stop) => {
    // Whoever came in between does it as well.
    if (isHeld(claims.held, host.clock.now().getTime())) return
    await renewCertificates({ host, plan, places, certificates, run, emit, signal: stop })
    say(`renewed ${places.map(({ certificateFile }) => certificateFile).join(', ')}`)
  }
  const failure = await ownRun(runs, 'renew certificates', renew, signal)
  if (failure !== undefined) troubles.push(failure)
}

function tooLate(expired: readonly PlannedCertificate[]): HyperkubeError {
  const files = expired.map(({ certificateFile }) => certificateFile).join(', ')
  return new HyperkubeError('RENEWAL_TOO_LATE', `not valid any more, or not yet: ${files}`, {
    hint: 'where cluster.yml is: hyperkube certs renew HOST; if the clock of this host is wrong, set it first',
  })
}

function noWay({ certificateFile }: PlannedCertificate): HyperkubeError {
  const message = `${certificateFile} is due, and this host is no node that could ask for another one`
  return new HyperkubeError('RENEWAL_NO_WAY', message, {
    hint: 'where cluster.yml is: hyperkube certs renew HOST',
  })
}
