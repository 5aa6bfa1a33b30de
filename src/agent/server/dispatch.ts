import { hostname } from 'node:os'
import type { EtcdRestoreProgress } from '../../contract/etcd-restore.ts'
import type { Event } from '../../contract/event.ts'
import type { AgentInstallation, AgentRequest, AgentResponse, Claim } from '../../contract/request.ts'
import type { HostProvisionalChange } from '../../contract/provisional-change.ts'
import type { Healer } from '../heal/healer.ts'
import type { NetworkProbe } from '../network-probe/network-probe.ts'
import type { OperatorLockStore } from '../operator-lock/operator-lock-store.ts'
import type { ServerRequestBody, HostOperations } from '../runs/host-operations.ts'
import { toRunFailure, type Runs } from '../runs/runs.ts'

export interface ServerDeps {
  readonly work: HostOperations
  readonly runs: Runs
  readonly claims: OperatorLockStore
  readonly peers: NetworkProbe
  readonly healer: Healer
  /** Version of the running hyperkube program. */
  readonly version: string
}

/** Handles one request. Yields one response, or the events of a run for `attach`. */
export async function* handleRequest(
  deps: ServerDeps,
  { body }: AgentRequest,
  signal: AbortSignal,
): AsyncGenerator<AgentResponse | Event> {
  try {
    if (body.type === 'attach') yield* deps.runs.attach(body.run, body.from, signal)
    else yield buildResponse(await dispatchRequest(deps, body, signal))
  } catch (error) {
    const held = deps.claims.held
    yield buildResponse({
      type: 'refused',
      ...toRunFailure(error),
      ...(held === undefined ? {} : { holder: toClaim(held) }),
    })
  }
}

async function dispatchRequest(
  { work, runs, claims, peers, healer, version }: ServerDeps,
  body: Exclude<ServerRequestBody, { type: 'attach' }>,
  disconnected: AbortSignal,
): Promise<ServerResponseBody> {
  switch (body.type) {
    case 'hello':
      return buildHello(version, claims, {
        restore: await work.activeRestore(),
        provisional: await work.provisional(),
        installation: await work.agentInstallation(),
      })
    case 'facts':
      return { type: 'facts', facts: await work.facts(body.host) }
    case 'diff':
      return {
        type: 'diff',
        ...(await work.diff(body.plan, body.fileContents ?? false, body.renew ?? false)),
      }
    case 'previous-plan': {
      const plan = await work.previousPlan(body.differentFrom)
      return { type: 'previous-plan', ...(plan === undefined ? {} : { plan }) }
    }
    case 'claim':
      await claims.acquire(body.claim, body.force, runs.busy)
      return { type: 'claimed', claim: body.claim }
    case 'release':
      await claims.release(body.claim)
      return { type: 'released' }
    case 'certificates':
      return { type: 'certificates', certificates: await work.certificates() }
    case 'certificate-requests':
      await claims.requireHeld(body.claim)
      return {
        type: 'certificate-requests',
        requests: await work.certificateRequests(body.plan, body.renew ?? false),
      }
    case 'apply':
      await claims.requireHeld(body.claim)
      await runs.start(body.run, `apply through ${body.through}`, async (emit, signal) =>
        work.apply(body, emit, signal),
      )
      return { type: 'running', run: body.run }
    case 'stop-services':
      await claims.requireHeld(body.claim)
      await runs.start(body.run, `stop ${body.components.join(', ')}`, async (emit, stop) =>
        work.stopServices(body, emit, stop),
      )
      return { type: 'running', run: body.run }
    case 'restore-etcd-data':
      await claims.requireHeld(body.claim)
      await runs.start(body.run, 'restore etcd', async (emit, stop) => work.restoreEtcdData(body, emit, stop))
      return { type: 'running', run: body.run }
    case 'wipe-etcd':
      await claims.requireHeld(body.claim)
      await runs.start(body.run, 'wipe etcd data', async (emit, stop) => work.wipeEtcd(body.run, emit, stop))
      return { type: 'running', run: body.run }
    case 'end-restore':
      await claims.requireHeld(body.claim)
      await work.endRestore(body.id)
      return { type: 'restore-ended' }
    case 'begin-provisional':
      await claims.requireHeld(body.claim)
      return buildProvisionalResponse(await work.beginProvisional(body.provisional))
    case 'move-provisional':
      await claims.requireHeld(body.claim)
      return buildProvisionalResponse(await work.moveProvisional(body.id, body.deadline))
    case 'confirm-provisional':
      await claims.requireHeld(body.claim)
      return buildProvisionalResponse(await work.confirmProvisional(body.id))
    case 'health':
      return { type: 'health', health: await healer.health(body.fresh ?? false, disconnected) }
    case 'pause-healing': {
      const paused = await healer.pause(body.for, body.by)
      return { type: 'healing', ...(paused === undefined ? {} : { paused }) }
    }
    case 'clock':
      return { type: 'clock', time: peers.now() }
    case 'listen':
      return { type: 'listening', ...(await peers.listen(body, disconnected)) }
    case 'stop-listening':
      await peers.stopListening(body.token)
      return { type: 'stopped-listening' }
    case 'probe':
      return { type: 'probed', results: await peers.probe(body.targets, disconnected) }
    case 'return-host':
      await claims.requireHeld(body.claim)
      await runs.start(body.run, `return ${hostname()}`, async (emit, stop) =>
        work.returnHost(body.run, emit, stop),
      )
      return { type: 'running', run: body.run }
    default:
      await claims.requireHeld(body.claim)
      await runs.start(body.run, `reset ${hostname()}`, async (emit, stop) =>
        work.reset(body.run, emit, stop),
      )
      return { type: 'running', run: body.run }
  }
}

interface HelloDetails {
  readonly restore: EtcdRestoreProgress | undefined
  readonly provisional: HostProvisionalChange | undefined
  readonly installation: AgentInstallation | undefined
}

function buildHello(
  version: string,
  { held }: OperatorLockStore,
  { restore, provisional, installation }: HelloDetails,
): ServerResponseBody {
  return {
    type: 'hello',
    version,
    ...(held === undefined ? {} : { claim: toClaim(held) }),
    ...(restore === undefined ? {} : { restore }),
    ...(provisional === undefined ? {} : { provisional }),
    ...(installation === undefined ? {} : { installation }),
  }
}

function buildProvisionalResponse(provisional: HostProvisionalChange | undefined): ServerResponseBody {
  return { type: 'provisional', ...(provisional === undefined ? {} : { provisional }) }
}

function toClaim({ holder, generation }: Claim): Claim {
  return { holder, generation }
}

type ServerResponseBody = AgentResponse['body']

export function buildResponse(content: ServerResponseBody): AgentResponse {
  return { apiVersion: 'hyperkube.dev/v1', kind: 'AgentResponse', body: content }
}
