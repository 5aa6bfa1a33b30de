import { formatError, HyperkubeError } from '../../kit/errors.ts'
import { pollWithProgress } from '../../kit/poll.ts'
import { describeGate } from '../../rollout/describe.ts'
import { quorumSize } from '../../kit/quorum.ts'
import type { Gate } from '../../rollout/step.ts'
import type { EmitEvent } from '../agents/event-stream.ts'
import type { ClusterClient, NotReadyReason } from '../cluster-client/cluster-client.ts'

const pollIntervalMs = 200

/** Checks of the cluster that gates use. */
export type GateClient = Pick<
  ClusterClient,
  'etcdHealthy' | 'isVoter' | 'apiReady' | 'controllersReady' | 'nodesReady'
>

export interface GateOptions {
  readonly timeoutMs: number
  readonly now: () => Date
  readonly signal: AbortSignal
}

/** Polls until the condition of a gate holds. Emits the reason for waiting. */
export async function passGate(
  gate: Gate,
  client: GateClient,
  emit: EmitEvent,
  { timeoutMs, now, signal }: GateOptions,
): Promise<void> {
  await pollWithProgress(async () => checkGate(gate, client), {
    report: (reason, since) =>
      emit({ type: 'waiting', for: `until ${describeGate(gate)}: ${reason}`, since }),
    toTimeoutError: (reason) => buildTimeoutError(gate, reason),
    now,
    deadline: now().getTime() + timeoutMs,
    intervalMs: pollIntervalMs,
    signal,
  })
}

async function checkGate(gate: Gate, client: GateClient): Promise<NotReadyReason> {
  try {
    return await queryGate(gate, client)
  } catch (error) {
    return formatError(error)
  }
}

async function queryGate(gate: Gate, client: GateClient): Promise<NotReadyReason> {
  switch (gate.kind) {
    case 'etcd-quorum-without':
      return checkQuorumWithout(gate.host, gate.members, client)
    case 'etcd-healthy':
      return client.etcdHealthy(gate.members)
    case 'etcd-member-promoted':
      return client.isVoter(gate.host)
    case 'api-ready':
      return client.apiReady(gate.hosts)
    case 'controllers-ready':
      return client.controllersReady(gate.host)
    case 'nodes-ready':
      return client.nodesReady(gate.hosts, gate.runtime)
    default:
      // The other gate waits until nodes are ready too. This covers the network too, because a node without a
      // working network is not ready.
      return client.nodesReady(gate.hosts)
  }
}

/**
 * Checks whether etcd keeps quorum without this host. Members are checked one by one, because some of them
 * may be unhealthy.
 */
async function checkQuorumWithout(
  host: string,
  members: readonly string[],
  client: GateClient,
): Promise<NotReadyReason> {
  const others = members.filter((name) => name !== host)
  const reasons = await Promise.all(
    others.map(async (name) => client.etcdHealthy([name]).catch((error: unknown) => formatError(error))),
  )
  const healthy = reasons.filter((reason) => reason === undefined).length
  // An etcd cluster of one or two members cannot keep its quorum without this host. The gate then requires
  // only that the other member, if any, is healthy. A finding has already warned the operator.
  const needed = members.length < 3 ? others.length : quorumSize(members.length)
  return healthy >= needed
    ? undefined
    : `${healthy} of ${needed} other etcd members are healthy: ${reasons.filter(Boolean).join('; ')}`
}

function buildTimeoutError(gate: Gate, reason: string): HyperkubeError {
  return new HyperkubeError(
    'GATE_NOT_PASSED',
    `timed out while waiting until ${describeGate(gate)}: ${reason}`,
    {
      hint: 'fix the cause, then run the same command again: it continues where this run ended',
    },
  )
}
