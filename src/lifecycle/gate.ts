import { formatError, HyperkubeError } from '../kit/errors.ts'
import { pollWithProgress } from '../kit/poll-with-progress.ts'
import { describeGate } from '../rollout/describe.ts'
import { minHealthyMembers } from '../rollout/quorum.ts'
import type { Gate } from '../rollout/step.ts'
import type { ClusterReader, NotReadyReason } from './cluster-access.ts'
import type { EmitEvent } from './event-stream.ts'

const pollIntervalMs = 200

export interface GateOptions {
  readonly timeoutMs: number
  readonly now: () => Date
  readonly signal: AbortSignal
}

/** Polls until the condition of a gate holds. Meanwhile emits the reason for waiting. */
export async function passGate(
  gate: Gate,
  reader: ClusterReader,
  emit: EmitEvent,
  { timeoutMs, now, signal }: GateOptions,
): Promise<void> {
  await pollWithProgress(async () => checkGate(gate, reader), {
    report: (reason, since) =>
      emit({ type: 'waiting', for: `until ${describeGate(gate)}: ${reason}`, since }),
    toTimeoutError: (reason) => buildTimeoutError(gate, reason),
    now,
    deadline: now().getTime() + timeoutMs,
    intervalMs: pollIntervalMs,
    signal,
  })
}

async function checkGate(gate: Gate, reader: ClusterReader): Promise<NotReadyReason> {
  try {
    return await queryGate(gate, reader)
  } catch (error) {
    return formatError(error)
  }
}

async function queryGate(gate: Gate, reader: ClusterReader): Promise<NotReadyReason> {
  switch (gate.kind) {
    case 'etcd-quorum-without':
      return checkQuorumWithout(gate.host, gate.members, reader)
    case 'etcd-healthy':
      return reader.etcdHealthy(gate.members)
    case 'etcd-member-promoted':
      return reader.isVoter(gate.host)
    case 'api-ready':
      return reader.apiReady(gate.hosts)
    case 'controllers-ready':
      return reader.controllersReady(gate.host)
    default:
      // The other gates wait for ready nodes, because a node without a working network is not ready.
      return reader.nodesReady(gate.hosts)
  }
}

/**
 * Checks whether etcd keeps quorum without this host. Members are checked one by one, because some of them
 * may be unhealthy.
 */
async function checkQuorumWithout(
  host: string,
  members: readonly string[],
  reader: ClusterReader,
): Promise<NotReadyReason> {
  const others = members.filter((name) => name !== host)
  const reasons = await Promise.all(
    others.map(async (name) => reader.etcdHealthy([name]).catch((error: unknown) => formatError(error))),
  )
  const healthy = reasons.filter((reason) => reason === undefined).length
  // With one or two members, all other members must be healthy. A finding has already warned about this.
  const needed = members.length < 3 ? others.length : minHealthyMembers(members.length)
  return healthy >= needed
    ? undefined
    : `${healthy} of ${needed} others are healthy: ${reasons.filter(Boolean).join('; ')}`
}

function buildTimeoutError(gate: Gate, reason: string): HyperkubeError {
  return new HyperkubeError('GATE_NOT_PASSED', `it is not so that ${describeGate(gate)}: ${reason}`, {
    hint: 'fix that, then run the same command again: it continues where this one ended',
  })
}
