import { hostname } from 'node:os'
import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { EtcdRestore } from '../../contract/etcd-restore.ts'
import type { Event } from '../../contract/event.ts'
import type { Facts } from '../../contract/facts.ts'
import type { Finding } from '../../contract/finding.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import type { AgentRequest, AgentResponse, Claim, InstalledCertificate } from '../../contract/request.ts'
import type { HostTrial, Trial } from '../../contract/provisional-change.ts'
import type { Healer } from '../heal/healer.ts'
import type { Peers } from '../network-probe/network-probe.ts'
import type { ClaimStore } from '../operator-lock/operator-lock-store.ts'
import { failureOf, type Emit, type Farewell, type Runs } from '../runs/runs.ts'

export type Ask = AgentRequest['ask']
export type Apply = Extract<Ask, { type: 'apply' }>
export type StopServices = Extract<Ask, { type: 'stop-services' }>
export type PlaceEtcd = Extract<Ask, { type: 'place-etcd' }>

/** What the agent can do to its host. */
export interface HostWork {
  facts(host: string): Promise<Facts>
  diff(
    plan: NodePlan,
    texts: boolean,
    renew: boolean,
  ): Promise<{ ops: Op[]; findings: Finding[]; texts?: Record<string, string> }>
  /** Without a digest what a trial goes back to. */
  formerPlan(than: string | undefined): Promise<NodePlan | undefined>
  certificates(): Promise<InstalledCertificate[]>
  /** Of all certificates of a plan, or of some. */
  certificateRequests(
    plan: NodePlan,
    renew: boolean,
    places?: PlannedCertificate[],
  ): Promise<Record<string, string>>
  apply(request: Apply, emit: Emit, signal: AbortSignal): Promise<void>
  /** Those of some components. */
  stopServices(ask: StopServices, emit: Emit, signal: AbortSignal): Promise<void>
  placeEtcd(request: PlaceEtcd, emit: Emit, signal: AbortSignal): Promise<void>
  /** For its member to join etcd anew. */
  clearEtcd(run: string, emit: Emit, signal: AbortSignal): Promise<void>
  /** A restore of etcd that is not over. */
  restoring(): Promise<EtcdRestore | undefined>
  endRestore(id: string): Promise<void>
  /** How it is with a trial, where there is one. */
  trial(): Promise<HostTrial | undefined>
  beginTrial(trial: Trial): Promise<HostTrial | undefined>
  moveTrial(id: string, deadline: string): Promise<HostTrial | undefined>
  keepTrial(id: string): Promise<HostTrial | undefined>
  /** From a trial, to what was before it. */
  goBack(run: string, emit: Emit, signal: AbortSignal): Promise<void>
  /** Answers with what ends the agent itself, where that is a service of the host. */
  reset(run: string, emit: Emit, signal: AbortSignal): Promise<Farewell | undefined>
}

export interface Desk {
  readonly work: HostWork
  readonly runs: Runs
  readonly claims: ClaimStore
  readonly peers: Peers
  readonly healer: Healer
  /** Of hyperkube. */
  readonly version: string
}

/** Answers one request: with one response, or for an attach with the events of the run. */
export async function* answer(
  desk: Desk,
  { ask }: AgentRequest,
  signal: AbortSignal,
): AsyncGenerator<AgentResponse | Event> {
  try {
    if (ask.type === 'attach') yield* desk.runs.attach(ask.run, ask.from, signal)
    else yield response(await respond(desk, ask, signal))
  } catch (error) {
    const held = desk.claims.held
    yield response({
      type: 'refused',
      ...failureOf(error),
      ...(held === undefined ? {} : { holder: claimOf(held) }),
    })
  }
}

async function respond(
  { work, runs, claims, peers, healer, version }: Desk,
  ask: Exclude<Ask, { type: 'attach' }>,
  gone: AbortSignal,
): Promise<Answer> {
  switch (ask.type) {
    case 'hello':
      return hello(version, claims, await work.restoring(), await work.trial())
    case 'facts':
      return { type: 'facts', facts: await work.facts(ask.host) }
    case 'diff':
      return { type: 'diff', ...(await work.diff(ask.plan, ask.texts ?? false, ask.renew ?? false)) }
    case 'former-plan': {
      const plan = await work.formerPlan(ask.than)
      return { type: 'former-plan', ...(plan === undefined ? {} : { plan }) }
    }
    case 'claim':
      await claims.take(ask.claim, ask.force, runs.busy)
      return { type: 'claimed', claim: ask.claim }
    case 'release':
      await claims.release(ask.claim)
      return { type: 'released' }
    case 'certificates':
      return { type: 'certificates', certificates: await work.certificates() }
    case 'certificate-requests':
      await claims.require(ask.claim)
      return {
        type: 'certificate-requests',
        requests: await work.certificateRequests(ask.plan, ask.renew ?? false),
      }
    case 'apply':
      await claims.require(ask.claim)
      await runs.start(ask.run, `apply through ${ask.through}`, async (emit, signal) =>
        work.apply(ask, emit, signal),
      )
      return { type: 'running', run: ask.run }
    case 'stop-services':
      await claims.require(ask.claim)
      await runs.start(ask.run, `stop ${ask.components.join(', ')}`, async (emit, stop) =>
        work.stopServices(ask, emit, stop),
      )
      return { type: 'running', run: ask.run }
    case 'place-etcd':
      await claims.require(ask.claim)
      await runs.start(ask.run, 'restore etcd', async (emit, stop) => work.placeEtcd(ask, emit, stop))
      return { type: 'running', run: ask.run }
    case 'clear-etcd':
      await claims.require(ask.claim)
      await runs.start(ask.run, 'clear etcd', async (emit, stop) => work.clearEtcd(ask.run, emit, stop))
      return { type: 'running', run: ask.run }
    case 'end-restore':
      await claims.require(ask.claim)
      await work.endRestore(ask.id)
      return { type: 'restore-ended' }
    case 'begin-trial':
      await claims.require(ask.claim)
      return ofTrial(await work.beginTrial(ask.trial))
    case 'move-trial':
      await claims.require(ask.claim)
      return ofTrial(await work.moveTrial(ask.id, ask.deadline))
    case 'keep-trial':
      await claims.require(ask.claim)
      return ofTrial(await work.keepTrial(ask.id))
    case 'health':
      return { type: 'health', health: await healer.health(ask.fresh ?? false, gone) }
    case 'pause-healing': {
      const paused = await healer.pause(ask.for, ask.by)
      return { type: 'healing', ...(paused === undefined ? {} : { paused }) }
    }
    case 'clock':
      return { type: 'clock', time: peers.now() }
    case 'listen':
      return { type: 'listening', ...(await peers.listen(ask, gone)) }
    case 'hush':
      await peers.hush(ask.token)
      return { type: 'hushed' }
    case 'probe':
      return { type: 'probed', results: await peers.probe(ask.targets, gone) }
    default:
      await claims.require(ask.claim)
      await runs.start(ask.run, `reset ${hostname()}`, async (emit, stop) => work.reset(ask.run, emit, stop))
      return { type: 'running', run: ask.run }
  }
}

function hello(
  version: string,
  { held }: ClaimStore,
  restore: EtcdRestore | undefined,
  trial: HostTrial | undefined,
): Answer {
  return {
    type: 'hello',
    version,
    ...(held === undefined ? {} : { claim: claimOf(held) }),
    ...(restore === undefined ? {} : { restore }),
    ...(trial === undefined ? {} : { trial }),
  }
}

function ofTrial(trial: HostTrial | undefined): Answer {
  return { type: 'trial', ...(trial === undefined ? {} : { trial }) }
}

function claimOf({ holder, generation }: Claim): Claim {
  return { holder, generation }
}

type Answer = AgentResponse['answer']

export function response(content: Answer): AgentResponse {
  return { apiVersion: 'hyperkube.dev/v1', kind: 'AgentResponse', answer: content }
}
