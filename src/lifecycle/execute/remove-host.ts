import { linuxStateDirectory } from '../../contract/host-paths.ts'
import type { Claim } from '../../contract/request.ts'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import { pollUntil } from '../../kit/poll.ts'
import type { RemoveStep } from '../../rollout/step.ts'
import type { Remote } from '../../ssh/remote.ts'
import { waitForAgentGoneCommand } from '../agents/agent-switch.ts'
import type { EmitEvent } from '../agents/event-stream.ts'
import { type AgentRunRequest, repeatInterrupted, runOnAgent } from '../agents/run-on-agent.ts'
import type { Session } from '../agents/session.ts'
import type { ClusterClient } from '../cluster-client/cluster-client.ts'
import type { ClusterWaitOptions } from '../etcd/membership.ts'

/** Changes of the etcd members and nodes of a cluster. */
export type MembershipClient = Pick<
  ClusterClient,
  'joinEtcd' | 'promote' | 'removeEtcdMember' | 'releaseEtcdLeadership' | 'drain' | 'uncordon' | 'removeNode'
>

export interface RemoveHostOptions {
  readonly client: MembershipClient
  /** Session with the agent of the host; undefined if the host is lost. */
  readonly session: Session | undefined
  readonly claim: Claim
  /** Called when the host no longer needs the operator lock. */
  readonly onRemoved: (host: string) => void
  readonly emit: EmitEvent
  readonly wait: ClusterWaitOptions
}

/**
 * Removes a host without disturbing the cluster. Drains its pods, stops its API server gracefully, removes
 * its etcd member, and deletes everything that hyperkube installed. Each part is idempotent, so an
 * interrupted run can be repeated.
 */
export async function removeClusterHost(step: RemoveStep, options: RemoveHostOptions): Promise<void> {
  const { host, live } = step
  const { client, session, claim, onRemoved, emit, wait } = options
  const lost = session === undefined
  if (live.node) await client.drain(host, { ...wait, lost })
  if (session !== undefined && live.controlPlane) await stopControlPlane(session, claim, emit)
  if (live.member) await client.removeEtcdMember(host)
  if (session !== undefined) await resetHost(session, claim, emit)
  onRemoved(host)
  // The node is removed last: while it exists, the next run knows that the host must be removed.
  if (live.node) await client.removeNode(host)
}

/** All components of a control plane except etcd, which must run until its member is removed. */
const controlPlaneComponents = [
  'hyperkube-keepalived',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'hyperkube-controller-manager',
  'apiserver-proxy',
  'containerd',
  'kubelet',
  'kube-router',
  'kube-proxy',
  'flanneld',
]

/**
 * Stops the components of a control plane before its etcd member is removed, because its API server needs
 * that member.
 */
async function stopControlPlane(session: Session, claim: Claim, emit: EmitEvent): Promise<void> {
  await runOnAgent(session, emit, { type: 'stop-services', claim, components: controlPlaneComponents })
}

const resetTimeoutMs = 30_000
/** Milliseconds to wait for the end of an agent that has interrupted a run. It may also have started again. */
const stoppingTimeoutMs = 5000

/**
 * Removes everything that hyperkube installed on a host. The agent is removed last, after it has reported the
 * other removals, because afterwards it is unreachable.
 */
export async function resetHost(session: Session, claim: Claim, emit: EmitEvent): Promise<void> {
  await runUntilAgentGone(session, emit, { type: 'reset', claim })
}

/**
 * Returns a host to what ran there before hyperkube. The agent is removed last, as by a reset.
 */
export async function returnHost(session: Session, claim: Claim, emit: EmitEvent): Promise<void> {
  await runUntilAgentGone(session, emit, { type: 'return-host', claim })
}

async function runUntilAgentGone(session: Session, emit: EmitEvent, request: AgentRunRequest): Promise<void> {
  // After an interrupted command, this run waits behind the same run, whose agent then removes itself.
  const isMissing = await repeatInterrupted(
    async () => runOnAgent(session, emit, request),
    async () => waitForAgentGone(session.remote, AbortSignal.timeout(stoppingTimeoutMs)),
  ).then(() => false, isAgentMissing)
  // Waits until the agent is removed, so that the next command does not find an agent that is shutting down.
  // A failed wait is not an error.
  const signal = AbortSignal.timeout(resetTimeoutMs)
  const { host, remote } = session
  if (remote?.windows === undefined) await waitForAgentGone(remote, signal)
  else await waitUntilCleared(remote, signal)
  if (isMissing && remote !== undefined) await requireNoState(host, remote)
}

async function waitForAgentGone(remote: Remote | undefined, signal: AbortSignal): Promise<void> {
  if (remote?.windows === undefined)
    await remote?.exec(waitForAgentGoneCommand, { signal, root: true }).catch(() => undefined)
}

/**
 * True if the error says that the agent is missing. The agent removes itself last, so everything else is already
 * removed then. Throws other errors.
 */
function isAgentMissing(error: unknown): boolean {
  if (!hasCode(error, 'AGENT_NOT_THERE')) throw error
  return true
}

/** Ends with 0 once the agent has removed its state, or with 1 after ten seconds. */
const stateGoneScript = `for _ in $(seq 100); do [ -e ${linuxStateDirectory} ] || exit 0; sleep 0.1; done; exit 1`

/** Throws if the state of a missing agent is still there. The host then lost power while the agent removed itself. */
async function requireNoState(host: string, remote: Remote): Promise<void> {
  if (remote.windows !== undefined) return
  const signal = AbortSignal.timeout(resetTimeoutMs)
  const { code } = await remote.exec(['sh', '-c', stateGoneScript], { signal, root: true })
  if (code === 0) return
  throw new HyperkubeError('AGENT_INTERRUPTED', 'the agent was stopped while it removed itself', {
    host,
    hint: 'run the same command again to resume',
  })
}

/**
 * Waits until the agent is removed, then removes the remaining programs. They remain because Windows cannot
 * delete a program while it runs.
 */
async function waitUntilCleared({ windows }: Remote, signal: AbortSignal): Promise<void> {
  const clear = async (): Promise<true | undefined> => {
    if ((await windows?.readCurrentVersion(signal)) !== undefined) return undefined
    await windows?.removePrograms(signal)
    return true
  }
  await pollUntil('the agent to be removed', clear, {
    timeoutMs: resetTimeoutMs,
    intervalMs: 500,
    signal,
  }).catch(() => undefined)
}
