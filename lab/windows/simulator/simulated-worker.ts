import { HyperkubeError } from '../../../src/kit/errors.ts'
import { commandLine } from '../../../src/agent/windows/powershell/command-line.ts'
import type { WorkerEdges } from '../../../src/agent/windows/reconcile/reconcile-deps.ts'
import {
  type NodeRole,
  roles,
  type WorkerService,
  type WorkerWish,
} from '../../../src/agent/windows/reconcile/worker-spec.ts'
import { digestOf } from './file-handlers.ts'
import { fileAt, hostAddress, type Machine, metadataAddress, putFile } from './machine.ts'
import { newMachine } from './new-machine.ts'
import { isReady, overlay } from './programs.ts'
import { simulatedAddresses, subnetOf } from './simulated-worker-deps.ts'
import type { SimulatedHost } from './simulated-host.ts'
import { simulatedHost } from './simulated-host.ts'
import { isUp } from './virtual-switch.ts'

const programs = String.raw`C:\hyperkube\programs`

const runner = `${programs}\\runner-1.0.0\\runner.exe`

function serviceOf(role: NodeRole): WorkerService {
  const path = `${programs}\\${role}-1.0.0\\${role}.exe`
  return {
    program: { path, sha256: digestOf(contentOf(role)) },
    service: {
      name: role,
      description: `${role} of a test`,
      // As those of a plan: its words go to a file through another program.
      commandLine: commandLine(runner, ['-log-file=C:\\x.log', path, '--v=2', `--node-ip=${hostAddress}`]),
      dependsOn: role === 'kubelet' ? ['containerd'] : [],
      environment: role === 'flanneld' ? ['NODE_NAME=win1'] : [],
      restartAfter: [2000, 5000, 15_000],
    },
  }
}

function contentOf(role: NodeRole): string {
  return `the program ${role}`
}

/** All that there can be, but for the way to the API. */
type WholeWish = WorkerWish & {
  readonly services: Readonly<Record<NodeRole, WorkerService>>
  readonly overlay: NonNullable<WorkerWish['overlay']>
}

/** What the simulated host shall be, as a plan would say it. */
export const workerWish: WholeWish = {
  address: hostAddress,
  services: {
    containerd: serviceOf('containerd'),
    kubelet: serviceOf('kubelet'),
    flanneld: serviceOf('flanneld'),
    'kube-proxy': serviceOf('kube-proxy'),
  },
  group: 'hyperkube',
  firewall: [
    { name: 'hyperkube-kubelet', protocol: 'tcp', ports: '10250' },
    { name: 'hyperkube-flannel', protocol: 'udp', ports: '4789' },
  ],
  metadata: [metadataAddress],
  overlay: {
    hold: { name: 'hyperkube-switch', subnet: '192.168.255.0/30', gateway: '192.168.255.1', vsid: 9999 },
    network: { name: overlay, type: 'overlay' },
  },
}

export interface SimulatedWorker extends SimulatedHost {
  readonly edges: WorkerEdges
}

/** A host in a cluster, with nothing of ours on it yet. */
export function simulatedWorker(): SimulatedWorker {
  const contents = roles.map((role) => [workerWish.services[role].program.path, contentOf(role)] as const)
  const simulated = simulatedHost(newMachine(new Map(contents)))
  putFile(simulated.machine, runner, 'a program that runs others')
  return { ...simulated, edges: edgesOf(simulated) }
}

function edgesOf({ host, machine }: SimulatedHost): WorkerEdges {
  return {
    host,
    clock: { now: () => new Date(machine.time) },
    signal: new AbortController().signal,
    isReady: async (role) => isReady(machine, role),
    subnet: async () => subnetOf(machine),
    addresses: simulatedAddresses(machine),
    fetch: async ({ path }, to) => fetchProgram(machine, path, to),
  }
}

function fetchProgram(machine: Machine, path: string, to: string): void {
  if (!isUp(machine)) throw new HyperkubeError('COMMAND_FAILED', 'the network is unreachable')
  if ((fileAt(machine, to)?.heldUntil ?? 0) > machine.time)
    throw new HyperkubeError('COMMAND_FAILED', 'the file is used by another process')
  putFile(machine, to, machine.cluster.programs.get(path) ?? '')
}
