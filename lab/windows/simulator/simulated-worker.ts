import { formatWindowsCommandLine } from '../../../src/agent/host/windows/service-control-manager.ts'
import type { ReconcileDeps } from '../../../src/agent/windows-worker/reconcile-deps.ts'
import {
  type NodeRole,
  nodeRoles,
  type WorkerServiceSpec,
  type WorkerSpec,
} from '../../../src/agent/windows-worker/worker.ts'
import { HyperkubeError } from '../../../src/kit/errors.ts'
import { computeSha256 } from './file-handlers.ts'
import { findFile, hostAddress, type Machine, metadataAddress, writeMachineFile } from './machine.ts'
import { newMachine } from './new-machine.ts'
import { isProgramReady, overlayNetwork } from './programs.ts'
import { type SimulatedHost, simulatedHost } from './simulated-host.ts'
import { readSubnet, simulatedAddresses } from './simulated-worker-deps.ts'
import { isUp } from './virtual-switch.ts'

const programs = String.raw`C:\hyperkube\programs`

const runner = `${programs}\\runner-1.0.0\\runner.exe`

function buildService(role: NodeRole): WorkerServiceSpec {
  const path = `${programs}\\${role}-1.0.0\\${role}.exe`
  return {
    program: { path, sha256: computeSha256(buildContent(role)) },
    service: {
      name: role,
      description: `${role} of a test`,
      // As in a plan, a wrapper writes the program's output to a file.
      commandLine: formatWindowsCommandLine(runner, [
        '-log-file=C:\\x.log',
        path,
        '--v=2',
        `--node-ip=${hostAddress}`,
      ]),
      dependsOn: role === 'kubelet' ? ['containerd'] : [],
      environment: role === 'flanneld' ? ['NODE_NAME=win1'] : [],
      restartAfter: [2000, 5000, 15_000],
    },
  }
}

function buildContent(role: NodeRole): string {
  return `the program ${role}`
}

/** A spec with all services except apiserver-proxy. */
type CompleteWorkerSpec = WorkerSpec & {
  readonly services: Readonly<Record<NodeRole, WorkerServiceSpec>>
  readonly overlay: NonNullable<WorkerSpec['overlay']>
}

/** The spec of the simulated worker, as a plan would define it. */
export const simulatedWorkerSpec: CompleteWorkerSpec = {
  address: hostAddress,
  services: {
    containerd: buildService('containerd'),
    kubelet: buildService('kubelet'),
    flanneld: buildService('flanneld'),
    'kube-proxy': buildService('kube-proxy'),
  },
  group: 'hyperkube',
  firewall: [
    { name: 'hyperkube-kubelet', protocol: 'tcp', ports: '10250' },
    { name: 'hyperkube-flannel', protocol: 'udp', ports: '4789' },
  ],
  metadata: [metadataAddress],
  overlay: {
    anchor: { name: 'hyperkube-switch', subnet: '192.168.255.0/30', gateway: '192.168.255.1', vsid: 9999 },
    network: { name: overlayNetwork, type: 'overlay' },
  },
}

export interface SimulatedWorker extends SimulatedHost {
  readonly deps: ReconcileDeps
}

/** Creates a simulated worker. hyperkube has not installed anything on its host yet. */
export function simulatedWorker(): SimulatedWorker {
  const contents = nodeRoles.map(
    (role) => [simulatedWorkerSpec.services[role].program.path, buildContent(role)] as const,
  )
  const simulated = simulatedHost(newMachine(new Map(contents)))
  writeMachineFile(simulated.machine, runner, 'a program that runs others')
  return { ...simulated, deps: buildDeps(simulated) }
}

function buildDeps({ host, machine }: SimulatedHost): ReconcileDeps {
  return {
    host,
    clock: { now: () => new Date(machine.time) },
    signal: new AbortController().signal,
    isReady: async (role) => isProgramReady(machine, role),
    subnet: async () => readSubnet(machine),
    addresses: simulatedAddresses(machine),
    fetch: async ({ path }, to) => fetchProgram(machine, path, to),
  }
}

function fetchProgram(machine: Machine, path: string, to: string): void {
  if (!isUp(machine)) throw new HyperkubeError('COMMAND_FAILED', 'the network is unreachable')
  if ((findFile(machine, to)?.heldUntil ?? 0) > machine.time)
    throw new HyperkubeError('COMMAND_FAILED', 'the file is used by another process')
  writeMachineFile(machine, to, machine.cluster.programs.get(path) ?? '')
}
