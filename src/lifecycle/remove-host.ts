import type { Claim } from '../contract/request.ts'
import type { RemoveStep } from '../rollout/step.ts'
import { runOnAgent } from './run-on-agent.ts'
import type { Membership, ClusterWaitOptions } from './cluster-access.ts'
import { resetHost } from './reset.ts'
import type { Session } from './session.ts'
import type { EmitEvent } from './event-stream.ts'

export interface RemoveHostOptions {
  readonly membership: Membership
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
export async function removeHost(step: RemoveStep, options: RemoveHostOptions): Promise<void> {
  const { host, live } = step
  const { membership, session, claim, onRemoved, emit, wait } = options
  const lost = session === undefined
  if (live.node) await membership.drain(host, { ...wait, lost })
  if (session !== undefined && live.controlPlane) await stopControlPlane(session, claim, emit)
  if (live.member) await membership.removeEtcdMember(host)
  if (session !== undefined) await resetHost(session, claim, emit)
  onRemoved(host)
  // The node is removed last: while it exists, the next run knows that the host must be removed.
  if (live.node) await membership.removeNode(host)
}

/** All components except etcd, which must run until its member is removed. */
const components = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'hyperkube-controller-manager',
  'apiserver-proxy',
  'containerd',
  'kubelet',
  'kube-proxy',
  'flanneld',
]

/**
 * Stops the components of a control plane before its etcd member is removed, because its API server needs
 * that member.
 */
async function stopControlPlane(session: Session, claim: Claim, emit: EmitEvent): Promise<void> {
  await runOnAgent(session, emit, { type: 'stop-services', claim, components })
}
