import {
  type OperatorLockOptions,
  type OperatorLock,
  acquireOperatorLock,
} from '../../lifecycle/agents/hold-operator-lock.ts'
import type { Session } from '../../lifecycle/agents/session.ts'
import type { ClusterInputs } from '../../lifecycle/inputs/cluster-inputs.ts'
import type { WorkspaceContext } from '../../workspace/context.ts'
import { formatHolder, isProcessAlive, isHolderGone } from '../../workspace/lock-holder.ts'
import type { ActionRun } from './action-run.ts'
import type { ClusterConnection } from './connect.ts'

export interface OperatorLockDeps extends Pick<ClusterConnection, 'inputs' | 'connected'> {
  /** Sessions of hosts that are removed from the cluster; they get the lock too. */
  readonly removedHosts?: Pick<ClusterConnection['removedHosts'], 'sessions'>
  readonly context: Pick<WorkspaceContext, 'operator' | 'signal'>
  readonly run: Pick<ActionRun, 'emit'>
  readonly forceUnlock: boolean
  /**
   * Whether the action removes hyperkube from hosts. Then --force-unlock may take the lock with only a minority of
   * control planes, and the lock needs no agent that has removed itself.
   */
  readonly removesHosts?: boolean
}

/**
 * Runs an action under the operator lock and always releases the lock. The signal of the action aborts if the
 * lock is lost.
 */
export async function withOperatorLock<T>(
  { context, inputs, connected, removedHosts, run, forceUnlock, removesHosts = false }: OperatorLockDeps,
  action: (lock: OperatorLock, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { operator, signal } = context
  const lock = await acquireOperatorLock({
    ...selectGranters(inputs, [...connected.sessions.values(), ...(removedHosts?.sessions.values() ?? [])]),
    holder: formatHolder(operator, process.pid),
    force: forceUnlock,
    allowMinority: removesHosts && forceUnlock,
    allowMissing: removesHosts,
    isGone: (other) => isHolderGone(other, operator, isProcessAlive),
  })
  const reportLost = (): void => run.emit({ type: 'stopping', because: 'claim-lost' })
  lock.lost.addEventListener('abort', reportLost, { once: true })
  try {
    return await action(lock, AbortSignal.any([signal, lock.lost]))
  } finally {
    lock.lost.removeEventListener('abort', reportLost)
    await lock.release()
  }
}

/** Divides sessions by role: control planes grant the lock, other hosts are only informed. */
function selectGranters(
  { cluster }: ClusterInputs,
  agents: readonly Session[],
): Pick<OperatorLockOptions, 'granters' | 'others' | 'controlPlanes'> {
  const controlPlanes = new Set(
    cluster.spec.hosts.filter(({ roles }) => roles.includes('control-plane')).map(({ name }) => name),
  )
  return {
    granters: agents.filter(({ host }) => controlPlanes.has(host)),
    others: agents.filter(({ host }) => !controlPlanes.has(host)),
    controlPlanes: controlPlanes.size,
  }
}
