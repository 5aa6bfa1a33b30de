import { formatNames } from '../kit/text.ts'
import { quorumSize } from '../kit/quorum.ts'
import type { ApplyStep, Gate, RemoveStep, RolloutStep } from './step.ts'

/** Describes a step in one line. */
export function describeStep(one: RolloutStep): string {
  return one.kind === 'remove' ? describeRemoval(one) : describeApply(one)
}

function describeRemoval({ host, live, unreachable, before }: RemoveStep): string {
  const details = [
    ...(live.node && !unreachable ? ['drained first'] : []),
    ...(live.member ? ['removed from etcd'] : []),
    unreachable ? 'not reset, because the host is unreachable' : 'everything of hyperkube deleted',
    ...before.map((gate) => `while ${describeGate(gate)}`),
  ]
  return [`remove ${host}`, ...details].join(', ')
}

function describeApply({ hosts, stages, before, drain }: ApplyStep): string {
  const what = formatNames(stages.map((stage) => stageNames[stage]))
  const where = hosts.length > 3 ? `${hosts.length} hosts (${formatNames(hosts)})` : formatNames(hosts)
  return [
    `${what} on ${where}`,
    ...(drain ? ['drained first'] : []),
    ...before.map((gate) => `while ${describeGate(gate)}`),
  ].join(', ')
}

const stageNames: Readonly<Record<ApplyStep['stage'], string>> = {
  prepare: 'preparation',
  etcd: 'etcd',
  api: 'API server',
  controllers: 'controllers',
  node: 'kubelet',
  network: 'network',
}

/** Describes the condition of a gate. */
export function describeGate(gate: Gate): string {
  switch (gate.kind) {
    case 'etcd-quorum-without':
      return `${quorumSize(gate.members.length)} of ${gate.members.length} etcd members are healthy without ${gate.host}`
    case 'etcd-healthy':
      return `etcd is healthy on ${formatNames(gate.members)}`
    case 'etcd-member-promoted':
      return `${gate.host} is a voting etcd member`
    case 'api-ready':
      return gate.hosts.length === 1
        ? `the API server of ${formatNames(gate.hosts)} is ready`
        : `the API servers of ${formatNames(gate.hosts)} are ready`
    case 'controllers-ready':
      return `the controllers of ${gate.host} are ready`
    case 'nodes-ready':
      return gate.hosts.length === 1
        ? `node ${formatNames(gate.hosts)} is ready`
        : `nodes ${formatNames(gate.hosts)} are ready`
    default:
      return `the network of ${formatNames(gate.hosts)} is up`
  }
}
