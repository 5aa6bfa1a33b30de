import type { X509Certificate } from 'node:crypto'
import type { RenewableCertificate } from '../../contract/host-resource.ts'
import { agentUser, locateCaFiles, renewalSigner } from '../../contract/renewal.ts'
import { formatCount } from '../../kit/text.ts'
import { formatDuration } from '../../kit/time-format.ts'
import type { KubeClient } from '../../kube/client.ts'
import { hostKind } from '../../kube/host-resource.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { parseKubeResponse } from '../../kube/object.ts'
import { findObject, listObjects } from '../../kube/read-objects.ts'
import { replaceObject } from '../../kube/write-objects.ts'
import { type Ca, caKeyName, type CaName } from '../../pki/ca.ts'
import { parseCertificates } from '../../pki/certificates.ts'
import {
  checkRenewal,
  type RenewalRequest,
  type RenewalVerdict,
  type TrustedCas,
} from '../../pki/check-renewal.ts'
import { requestingNode } from '../../pki/check-serving-request.ts'
import { makeRequest } from '../../pki/request.ts'
import { Secret } from '../../pki/secret.ts'
import { signRequest } from '../../pki/sign.ts'
import { loadX509 } from '../../pki/x509.ts'
import { readAppliedPlan } from '../records/state-file.ts'
import type { Host } from '../host/host.ts'
import type { TickResult } from '../runs/run-loop.ts'
import type { Runs } from '../runs/runs.ts'
import type { RenewalIntervals } from './intervals.ts'
import { createNodeApiClient, createNodeClient, findNodeApi, type NodeApiEndpoint } from './node-api.ts'
import type { SigningQuota } from './signing-quota.ts'
import {
  readRenewalRequest,
  readSigningResponse,
  type RenewalSigningRequest,
  renewalSigningRequestKind,
  type SigningCondition,
  withCertificate,
  withCondition,
} from './signing-request.ts'

export interface SignForNodesDeps {
  readonly host: Host
  readonly runs: Pick<Runs, 'busy'>
  readonly intervals: RenewalIntervals
  readonly quota: SigningQuota
  readonly log: (text: string) => void
  /** Returns a number from 0 to 1. */
  readonly random: () => number
  readonly signal: AbortSignal
}

/**
 * Lifetime in milliseconds of the client certificate with which the agent authenticates to the API while it
 * signs. It is long enough to handle all pending requests once. The key of the certificate exists only in
 * memory.
 */
const clientLifetimeMs = 10 * 60_000

/**
 * Signs the certificates that nodes request. Does nothing on hosts without CA keys. If several control planes
 * sign the same request, only the first signature is used.
 */
export async function signForNodes(deps: SignForNodesDeps): Promise<TickResult> {
  const { host, runs, intervals, random, signal } = deps
  // A run may be changing the files that are read here, so the agent tries again later.
  if (runs.busy) return { nextMs: intervals.retryMs }
  const keys = await readSigningKeys(host)
  const plan = keys && (await readAppliedPlan(host))
  if (keys === undefined || plan === undefined) return { nextMs: intervals.localMs, problems: [] }
  using node = await createNodeClient(host, plan, signal)
  const api = findNodeApi(plan)
  if (node === undefined || api === undefined) return { nextMs: intervals.localMs, problems: [] }
  // Requests are listed with the existing certificate of the node. The client certificate of `agentUser` is
  // issued only if requests are pending, which is rare.
  const { items } = await listObjects(node, renewalSigningRequestKind, {
    fields: `spec.signerName=${renewalSigner}`,
  })
  recordSigned(deps, items)
  const pending = items.filter((item) => readSigningResponse(item).state === 'open')
  if (pending.length === 0) return { nextMs: intervals.requestsMs, problems: [] }
  using client = await createAgentClient(host, api, keys.cas.kubernetes, signal)
  const problems: unknown[] = []
  for (const item of shuffle(pending, random)) {
    await handleSigningRequest(deps, client, item, keys).catch((error: unknown) => {
      signal.throwIfAborted()
      // Another control plane was faster, or the API has deleted the request. Neither is a problem.
      if (!isKubeError(error, 'KUBE_CONFLICT') && !isKubeError(error, 'KUBE_NOT_FOUND')) problems.push(error)
    })
  }
  return { nextMs: intervals.requestsMs, problems }
}

/**
 * Records the certificates that other control planes have signed, so that one limit applies to all control
 * planes together.
 */
function recordSigned({ host, quota }: SignForNodesDeps, items: readonly RenewalSigningRequest[]): void {
  const now = host.clock.now().getTime()
  for (const item of items)
    if (readSigningResponse(item).state === 'issued')
      quota.record(item.spec.username, item.metadata.name, now)
}

interface SigningKeys {
  readonly cas: Readonly<Record<CaName, Ca>>
  readonly trusted: TrustedCas
}

async function readSigningKeys(host: Host): Promise<SigningKeys | undefined> {
  const [kubernetes, etcd, frontProxy] = [
    await readLocalCa(host, 'kubernetes'),
    await readLocalCa(host, 'etcd'),
    await readLocalCa(host, 'front-proxy'),
  ]
  if (kubernetes === undefined || etcd === undefined || frontProxy === undefined) return undefined
  return {
    cas: {
      kubernetes: kubernetes.ca,
      etcd: etcd.ca,
      'front-proxy': frontProxy.ca,
    },
    trusted: { kubernetes: kubernetes.trusted, etcd: etcd.trusted, 'front-proxy': frontProxy.trusted },
  }
}

/** Creates a client for the user `agentUser`, who may approve and sign requests. */
async function createAgentClient(
  { clock }: Host,
  api: NodeApiEndpoint,
  ca: Ca,
  signal: AbortSignal,
): Promise<KubeClient> {
  const subject = { commonName: agentUser, organizations: [] }
  const names = { dns: [], ip: [] }
  const { request, privateKey } = await makeRequest(agentUser, subject, names)
  const spec = { subject, names, usages: ['client'], lifetime: clientLifetimeMs } as const
  const certificate = await signRequest(ca, request, spec, clock.now())
  return createNodeApiClient(api, { certificate, privateKey: privateKey.revealText() }, signal)
}

async function handleSigningRequest(
  { host, log, quota }: SignForNodesDeps,
  client: KubeClient,
  item: RenewalSigningRequest,
  { cas, trusted }: SigningKeys,
): Promise<void> {
  const response = readSigningResponse(item)
  const approved = response.state === 'open' && response.approved
  const renewal = { ...readRenewalRequest(item), planned: await readPlannedCertificates(client, item) }
  const now = host.clock.now()
  const verdict = checkRenewal(await loadX509(), renewal, trusted, now)
  const decision = verdict.verdict === 'granted' ? checkQuota(quota, renewal, verdict, now) : verdict
  if (decision.verdict === 'refused') {
    const { reason, message } = decision
    // An approved request cannot be denied any more, so it becomes Failed instead.
    const [type, part] = approved ? (['Failed', 'status'] as const) : (['Denied', 'approval'] as const)
    await addCondition(client, item, { type, reason, message }, part)
    log(`refused ${item.metadata.name} of ${renewal.requester}: ${message}`)
    return
  }
  // Sign before approving. If this host cannot sign the request, another control plane can still do so.
  const certificate = await signRequest(cas[decision.ca], renewal.request, decision.spec, now)
  const message = `the requester holds the previous certificate of ${decision.spec.subject.commonName}`
  const condition = { type: 'Approved', reason: 'PreviousCertificate', message } as const
  const current = approved ? item : await addCondition(client, item, condition, 'approval')
  await replaceObject(client, withCertificate(current, certificate), { subresource: 'status' })
  quota.record(renewal.requester, item.metadata.name, now.getTime())
  log(`renewed the certificate of ${decision.spec.subject.commonName} for ${renewal.requester}`)
}

type Decision =
  | Extract<RenewalVerdict, { verdict: 'granted' }>
  | { readonly verdict: 'refused'; readonly reason: string; readonly message: string }

/** Refuses a valid request if the node has got too many certificates. */
function checkQuota(
  quota: SigningQuota,
  { requester, planned }: RenewalRequest,
  granted: Extract<RenewalVerdict, { verdict: 'granted' }>,
  now: Date,
): Decision {
  const { signedCount, limit, periodMs } = quota.measure({
    node: requester,
    plannedCount: planned.length,
    lifetimeMs: granted.spec.lifetime,
    now: now.getTime(),
  })
  if (signedCount < limit) return granted
  const message = `${requester} got ${formatCount(signedCount, 'certificate')} in ${formatDuration(periodMs)}; the limit is ${limit}`
  return { verdict: 'refused', reason: 'TooManyRenewals', message }
}

/**
 * Reads the planned certificates of the requesting host. Only operators write the spec of a Host object, and
 * `node remove` deletes the object, so a removed host can renew nothing.
 */
async function readPlannedCertificates(
  client: KubeClient,
  { spec: { username, groups } }: RenewalSigningRequest,
): Promise<readonly RenewableCertificate[]> {
  const name = requestingNode({ username, groups: groups ?? [] })
  const object = name === undefined ? undefined : await findObject(client, hostKind, { name })
  return object?.spec.certificates ?? []
}

async function addCondition(
  client: KubeClient,
  item: RenewalSigningRequest,
  condition: SigningCondition,
  part: string,
): Promise<RenewalSigningRequest> {
  const response = await replaceObject(client, withCondition(item, condition), { subresource: part })
  return parseKubeResponse(renewalSigningRequestKind.schema, response, item.metadata.name)
}

/** Shuffles requests, so several control planes do not all start with the same request. */
function shuffle<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

/** A CA whose key is on this host. */
interface LocalCa {
  readonly ca: Ca
  /** All certificates that are trusted for this CA. */
  readonly trusted: readonly X509Certificate[]
}

/**
 * Reads a CA with its key. Returns undefined if the key is not on this host, because only control planes have
 * CA keys.
 */
export async function readLocalCa({ files }: Host, name: CaName): Promise<LocalCa | undefined> {
  const paths = locateCaFiles(name)
  const [certificates, privateKey] = [
    await files.read(paths.certificates),
    await files.read(paths.privateKey),
  ]
  if (certificates === undefined || privateKey === undefined) return undefined
  const trusted = parseCertificates(certificates.toString('utf8'))
  const certificate = trusted[0]?.toString() ?? ''
  return {
    ca: { name, certificate, privateKey: new Secret(caKeyName(name), privateKey) },
    trusted,
  }
}
