import type { Claim } from '../contract/request.ts'
import type { RemoveStep } from '../rollout/step.ts'
import { runOnAgent } from './run-on-agent.ts'
import type { Membership, ClusterWaitOptions } from './cluster-access.ts'
import { resetHost } from './reset.ts'
import type { Session } from './session.ts'
import type { EmitEvent } from './event-stream.ts'

export interface RemoveHostOptions {
  readonly membership: Membership
  /** Undefined if the host is lost. */
  readonly session: Session | undefined
  readonly claim: Claim
  /** Called when the host need not be informed of the operator lock any more. */
  readonly onRemoved: (host: string) => void
  readonly emit: EmitEvent
  readonly wait: ClusterWaitOptions
}

/**
 * Removes a host without disturbing the cluster: drains its pods, stops its API server gracefully, removes
 * its etcd member, and then removes everything that hyperkube installed. Each part is idempotent, so an
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
  // Comes last: as long as the node exists, the next run knows that the host must be removed.
  if (live.node) await membership.removeNode(host)
}

/** All components but etcd, because the other members still count on this one. */
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

/** An API server cannot work without its etcd member. */
async function stopControlPlane(session: Session, claim: Claim, emit: EmitEvent): Promise<void> {
  await runOnAgent(session, emit, { type: 'stop-services', claim, components })
}
