import { agentUser, renewalSigner } from '../../contract/renewal.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { parseAnswer } from '../../kube/parse-response.ts'
import { list } from '../../kube/read-objects.ts'
import { replace } from '../../kube/write-objects.ts'
import type { Authority, AuthorityName } from '../../pki/ca.ts'
import { checkRenewal, type Trusted } from '../../pki/check-renewal.ts'
import { makeRequest } from '../../pki/request.ts'
import { signRequest } from '../../pki/sign.ts'
import { loadX509 } from '../../pki/x509.ts'
import { lastPlan } from '../apply/applied-plan.ts'
import type { Host } from '../host/host.ts'
import type { Runs } from '../runs/runs.ts'
import { clientAt, clientOfNode, nodeApi, type NodeApi } from './node-api.ts'
import { ownAuthority } from './local-cas.ts'
import type { Rhythm } from './intervals.ts'
import type { Look } from '../loop/run-loop.ts'
import {
  answerIn,
  type Condition,
  renewalIn,
  type SigningRequest,
  signingRequestKind,
  withCertificate,
  withCondition,
} from './signing-request.ts'

export interface AnswerScene {
  readonly host: Host
  readonly runs: Pick<Runs, 'busy'>
  readonly rhythm: Rhythm
  readonly say: (text: string) => void
  /** From 0 to 1. */
  readonly random: () => number
  readonly signal: AbortSignal
}

/** As long as a look may take; its key is nowhere but in memory. */
const brief = 10 * 60_000

/** Answers what nodes ask for, where this host has keys to sign it with. Of several control planes the first one wins. */
export async function answerOthers(scene: AnswerScene): Promise<Look> {
  const { host, runs, rhythm, random, signal } = scene
  // A run may be at the very files that are read here.
  if (runs.busy) return { next: rhythm.soon }
  const keys = await ownKeys(host)
  const plan = keys && (await lastPlan(host))
  if (keys === undefined || plan === undefined) return { next: rhythm.own, troubles: [] }
  using node = await clientOfNode(host, plan, signal)
  const api = nodeApi(plan)
  if (node === undefined || api === undefined) return { next: rhythm.own, troubles: [] }
  // To look at them costs no certificate of our own, and hardly ever there are any.
  const { items } = await list(node, signingRequestKind, { fields: `spec.signerName=${renewalSigner}` })
  const open = items.filter((item) => answerIn(item).is === 'open')
  if (open.length === 0) return { next: rhythm.asked, troubles: [] }
  using client = await ownClient(host, api, keys.authorities.kubernetes, signal)
  const troubles: unknown[] = []
  for (const item of inAnyOrder(open, random)) {
    await answerOne(scene, client, item, keys).catch((error: unknown) => {
      signal.throwIfAborted()
      // Another control plane was faster, or the cluster has forgotten it.
      if (!isKubeError(error, 'KUBE_CONFLICT') && !isKubeError(error, 'KUBE_NOT_FOUND')) troubles.push(error)
    })
  }
  return { next: rhythm.asked, troubles }
}

interface Keys {
  readonly authorities: Readonly<Record<AuthorityName, Authority>>
  readonly trusted: Trusted
}

async function ownKeys(host: Host): Promise<Keys | undefined> {
  const [kubernetes, etcd, frontProxy] = [
    await ownAuthority(host, 'kubernetes'),
    await ownAuthority(host, 'etcd'),
    await ownAuthority(host, 'front-proxy'),
  ]
  if (kubernetes === undefined || etcd === undefined || frontProxy === undefined) return undefined
  return {
    authorities: {
      kubernetes: kubernetes.authority,
      etcd: etcd.authority,
      'front-proxy': frontProxy.authority,
    },
    trusted: { kubernetes: kubernetes.trusted, etcd: etcd.trusted, 'front-proxy': frontProxy.trusted },
  }
}

/** Speaks as the agents of control planes do, whom the cluster lets answer. */
async function ownClient(
  { clock }: Host,
  api: NodeApi,
  authority: Authority,
  signal: AbortSignal,
): Promise<KubeClient> {
  const subject = { commonName: agentUser, organizations: [] }
  const names = { dns: [], ip: [] }
  const { request, privateKey } = await makeRequest(agentUser, subject, names)
  const wish = { subject, names, usages: ['client'], lifetime: brief } as const
  const certificate = await signRequest(authority, request, wish, clock.now())
  return clientAt(api, { certificate, privateKey: privateKey.revealText() }, signal)
}

async function answerOne(
  { host, say }: AnswerScene,
  client: KubeClient,
  item: SigningRequest,
  { authorities, trusted }: Keys,
): Promise<void> {
  const answer = answerIn(item)
  const approved = answer.is === 'open' && answer.approved
  const asked = renewalIn(item)
  const now = host.clock.now()
  const verdict = checkRenewal(await loadX509(), asked, trusted, now)
  if (verdict.verdict === 'refused') {
    const { reason, message } = verdict
    // What somebody has approved cannot be denied any more.
    const [type, part] = approved ? (['Failed', 'status'] as const) : (['Denied', 'approval'] as const)
    await told(client, item, { type, reason, message }, part)
    say(`refused ${item.metadata.name} of ${asked.requester}: ${message}`)
    return
  }
  // Before it is approved: what cannot be signed here is left to another control plane.
  const certificate = await signRequest(authorities[verdict.authority], asked.request, verdict.wish, now)
  const message = `whoever asks holds the former certificate of ${verdict.wish.subject.commonName}`
  const condition = { type: 'Approved', reason: 'FormerCertificate', message } as const
  const current = approved ? item : await told(client, item, condition, 'approval')
  await replace(client, withCertificate(current, certificate), { part: 'status' })
  say(`renewed the certificate of ${verdict.wish.subject.commonName} for ${asked.requester}`)
}

async function told(
  client: KubeClient,
  item: SigningRequest,
  condition: Condition,
  part: string,
): Promise<SigningRequest> {
  const answer = await replace(client, withCondition(item, condition), { part })
  return parseAnswer(signingRequestKind.schema, answer, item.metadata.name)
}

/** So that several control planes do not all begin with the same one. */
function inAnyOrder<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
