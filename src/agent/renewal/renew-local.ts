import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { inspectCertificate } from '../../pki/certificates.ts'
import { isValid } from '../../pki/lifetime.ts'
import { signRequest } from '../../pki/sign.ts'
import { installRenewedCertificates } from '../apply/install-renewed.ts'
import { findPairProblem, readInstalledPair } from '../resources/installed-key-pair.ts'
import { readPendingCertificate } from '../resources/pending-certificate-store.ts'
import { readAppliedPlan } from '../records/state-file.ts'
import type { Host } from '../host/host.ts'
import type { OperatorLockStore } from '../operator-lock/operator-lock-store.ts'
import { isLockedByOther, isLockHeld } from '../operator-lock/operator-lock.ts'
import type { HostOperations } from '../runs/host-operations.ts'
import type { TickResult } from '../runs/run-loop.ts'
import { type OwnRunWork, type Runs, startOwnRun } from '../runs/runs.ts'
import { computeCheckInterval, type RenewalIntervals } from './intervals.ts'
import { createNodeClient } from './node-api.ts'
import { readLocalCa } from './sign-for-nodes.ts'
import { requestSignature } from './signing-request.ts'

export interface RenewalDeps {
  readonly host: Host
  readonly work: Pick<HostOperations, 'certificateRequests' | 'activeRestore'>
  readonly runs: Runs
  readonly claims: Pick<OperatorLockStore, 'held'>
  readonly intervals: RenewalIntervals
  readonly log: (text: string) => void
  readonly signal: AbortSignal
}

/**
 * Renews the certificates that are due on this host. All state is on disk, in the API and in the journal, so
 * the next check or an operator can complete an interrupted renewal.
 */
export async function renewLocalCertificates(deps: RenewalDeps): Promise<TickResult> {
  const { host, work, runs, intervals } = deps
  if (runs.busy || (await isLockedByOther(deps))) return { nextMs: intervals.retryMs }
  const plan = await readAppliedPlan(host)
  if (plan === undefined) return { nextMs: intervals.localMs, problems: [] }
  const { due, expired } = await findDueCertificates(host, plan)
  const problems: unknown[] = expired.length === 0 ? [] : [expiredError(expired)]
  const next = computeCheckInterval(plan, intervals)
  if (due.length === 0) return { nextMs: next, problems }
  const requests = await work.certificateRequests(plan, false, due)
  const { certificates, waiting } = await signCertificates(deps, plan, due, requests, problems)
  // A certificate without a request was issued before a run was interrupted. It only needs to be installed.
  const ready = due.filter(
    ({ certificateFile: file }) => certificates.has(file) || requests[file] === undefined,
  )
  if (ready.length > 0) await installCertificates(deps, plan, ready, certificates, problems)
  return { nextMs: waiting ? Math.min(intervals.retryMs, next) : next, problems }
}

interface SigningResult {
  readonly certificates: ReadonlyMap<string, string>
  /** True while a signing request is pending. */
  readonly waiting: boolean
}

async function signCertificates(
  { host, signal }: RenewalDeps,
  plan: NodePlan,
  due: readonly PlannedCertificate[],
  requests: Readonly<Record<string, string>>,
  problems: unknown[],
): Promise<SigningResult> {
  using api = await createNodeClient(host, plan, signal)
  const certificates = new Map<string, string>()
  let waiting = false
  for (const planned of due) {
    const request = requests[planned.certificateFile]
    if (request === undefined) continue
    try {
      const localCa = await readLocalCa(host, planned.ca)
      if (localCa === undefined && api === undefined) throw noApiError(planned)
      const { subject, names, usages, lifetime } = planned
      const certificate =
        localCa === undefined
          ? api && (await requestSignature(host, api, planned, request))
          : await signRequest(localCa.ca, request, { subject, names, usages, lifetime }, host.clock.now())
      if (certificate === undefined) waiting = true
      else certificates.set(planned.certificateFile, certificate)
    } catch (error) {
      signal.throwIfAborted()
      problems.push(error)
    }
  }
  return { certificates, waiting }
}

async function installCertificates(
  { host, runs, claims, log, signal }: RenewalDeps,
  plan: NodePlan,
  toRenew: readonly PlannedCertificate[],
  certificates: ReadonlyMap<string, string>,
  problems: unknown[],
): Promise<void> {
  const renewWork: OwnRunWork = async (run, emit, stop) => {
    // If an operator has taken the lock meanwhile, the operator's run renews these certificates.
    if (isLockHeld(claims.held, host.clock.now().getTime())) return
    await installRenewedCertificates({ host, plan, toRenew, certificates, run, emit, signal: stop })
    log(`renewed ${toRenew.map(({ certificateFile }) => certificateFile).join(', ')}`)
  }
  const failure = await startOwnRun(runs, 'renew certificates', renewWork, signal)
  if (failure !== undefined) problems.push(failure)
}

function expiredError(expired: readonly PlannedCertificate[]): HyperkubeError {
  const files = expired.map(({ certificateFile }) => certificateFile).join(', ')
  return new HyperkubeError('RENEWAL_TOO_LATE', `certificates expired or not yet valid: ${files}`, {
    hint: 'check the clock of this host: date -u; then, in the directory of cluster.yml: hyperkube certs renew HOST',
  })
}

function noApiError({ certificateFile }: PlannedCertificate): HyperkubeError {
  const message = `${certificateFile} is due for renewal, but only nodes can request certificates`
  return new HyperkubeError('RENEWAL_NO_API', message, {
    hint: 'in the directory of cluster.yml: hyperkube certs renew HOST',
  })
}

interface DueCertificates {
  /**
   * Certificates that are still valid but close to expiry, or only partly installed because a run was
   * interrupted.
   */
  readonly due: PlannedCertificate[]
  /**
   * Expired certificates. A node proves a renewal request with its previous valid certificate, so only an
   * operator can renew these.
   */
  readonly expired: PlannedCertificate[]
}

/**
 * Finds the certificates of a plan that must be renewed. Certificates that were changed by hand are skipped,
 * because only an operator may replace them.
 */
async function findDueCertificates(host: Host, plan: NodePlan): Promise<DueCertificates> {
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

/** True if the new key is installed and its certificate was issued but not yet installed. */
async function isPartlyInstalled(host: Host, planned: PlannedCertificate): Promise<boolean> {
  const pending = await readPendingCertificate(host, planned)
  if (pending?.certificate === undefined) return false
  return (await readInstalledPair(host, planned)).privateKey === pending.privateKey.revealText()
}
