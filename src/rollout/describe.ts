import { quorum } from './quorum.ts'
import type { ApplyStep, Gate, LeaveStep, Step } from './step.ts'
import { list } from './format-names.ts'

/** A step in one line, for people. */
export function describeStep(one: Step): string {
  return one.what === 'leave' ? describeLeave(one) : describeApply(one)
}

function describeLeave({ host, live, lost, before }: LeaveStep): string {
  const gives = [
    ...(live.node && !lost ? ['pods moved away first'] : []),
    ...(live.member ? ['taken out of etcd'] : []),
    lost ? 'without its help, because it does not answer' : 'everything of ours removed from it',
    ...before.map((gate) => `while ${describeGate(gate)}`),
  ]
  return [`${host} leaves`, ...gives].join(', ')
}

function describeApply({ hosts, stages, before, drain }: ApplyStep): string {
  const what = list(stages.map((stage) => names[stage]))
  const where = hosts.length > 3 ? `${hosts.length} hosts (${list(hosts)})` : list(hosts)
  return [
    `${what} on ${where}`,
    ...(drain ? ['pods moved away first'] : []),
    ...before.map((gate) => `while ${describeGate(gate)}`),
  ].join(', ')
}

const names: Readonly<Record<ApplyStep['stage'], string>> = {
  prepare: 'preparation',
  etcd: 'etcd',
  api: 'API server',
  controllers: 'controllers',
  node: 'kubelet',
  network: 'network',
}

/** What a gate waits for. */
export function describeGate(gate: Gate): string {
  switch (gate.kind) {
    case 'etcd-quorum-without':
      return `${quorum(gate.members.length)} of ${gate.members.length} members of etcd are well without ${gate.host}`
    case 'etcd-healthy':
      return `etcd is well on ${list(gate.members)}`
    case 'etcd-member-promoted':
      return `${gate.host} votes in etcd`
    case 'api-ready':
      return gate.hosts.length === 1
        ? `the API server of ${list(gate.hosts)} is ready`
        : `the API servers of ${list(gate.hosts)} are ready`
    case 'controllers-ready':
      return `the controllers of ${gate.host} are ready`
    case 'nodes-ready':
      return gate.hosts.length === 1
        ? `node ${list(gate.hosts)} is ready`
        : `nodes ${list(gate.hosts)} are ready`
    default:
      return `the network of ${list(gate.hosts)} is up`
  }
}
