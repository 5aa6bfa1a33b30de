import { type NodeRole, nodeRoles } from '../../../src/agent/windows-worker/worker.ts'
import { findFile, type Machine, metadataAddress, newId, writeMachineFile } from './machine.ts'
import { startSimulatedService, failService, stopSimulatedService, killProcess } from './service-manager.ts'
import { overlayNetwork } from './programs.ts'
import { bounce, removeNetwork } from './virtual-switch.ts'
import { reboot } from './time.ts'
import { simulatedWorkerSpec } from './simulated-worker.ts'

/** Faults that a test can inject into a host or one of its programs. */
export const faultNames = [
  'reboot',
  'hns-restart',
  'hns-stopped',
  'adapter-bounce',
  'locked-file',
  'damaged-program',
  'lost-program',
  'killed-process',
  'killed-runner',
  'stopped-service',
  'changed-service',
  'removed-service',
  'deaf-service',
  'lost-route',
  'deleted-rule',
  'disabled-rule',
  'wrong-network-type',
  'deleted-network',
  'new-subnet',
  'address-reassigned',
] as const
export type FaultName = (typeof faultNames)[number]

export interface SimulatedFault {
  readonly name: FaultName
  readonly role: NodeRole
}

/** Injects a fault into a machine. Does nothing if the target of the fault does not exist. */
export function injectFault(machine: Machine, { name, role }: SimulatedFault): void {
  const { program } = simulatedWorkerSpec.services[role]
  const service = machine.services.get(role)
  const network = machine.networks.find((one) => one.name === overlayNetwork)
  switch (name) {
    case 'reboot':
      return reboot(machine)
    case 'hns-restart':
      return restartHns(machine)
    case 'hns-stopped':
      return stopHns(machine)
    case 'adapter-bounce':
      return bounce(machine)
    case 'locked-file': {
      for (const path of [program.path, `${program.path}.new`, `${program.path}.old`])
        Object.assign(findFile(machine, path) ?? {}, { heldUntil: machine.time + 60_000 })
      return undefined
    }
    case 'damaged-program': {
      // The running process is not affected; only the file at its path changes.
      writeMachineFile(machine, program.path, `damaged ${machine.last}`)
      return undefined
    }
    case 'lost-program': {
      const file = findFile(machine, program.path)
      if (file !== undefined) machine.files.remove(file)
      return undefined
    }
    case 'killed-process':
      return service === undefined ? undefined : failService(machine, service, 1)
    case 'killed-runner': {
      const runner = machine.processes.get(service?.process ?? 0)
      return runner === undefined ? undefined : killProcess(machine, runner)
    }
    case 'stopped-service':
      return service === undefined ? undefined : stopSimulatedService(machine, service)
    case 'changed-service': {
      if (service !== undefined) service.commandLine += ' --another-flag'
      return undefined
    }
    case 'removed-service': {
      for (const { id, service: ownerName } of machine.processes.values())
        if (ownerName === role) machine.processes.delete(id)
      machine.services.delete(role)
      return undefined
    }
    case 'deaf-service': {
      if (service?.state === 'Running') service.deaf = true
      return undefined
    }
    case 'lost-route': {
      machine.routes = machine.routes.filter(({ destination }) => destination !== metadataAddress)
      return undefined
    }
    case 'deleted-rule':
      machine.rules.delete('hyperkube-flannel')
      return undefined
    case 'disabled-rule': {
      const rule = machine.rules.get('hyperkube-kubelet')
      if (rule !== undefined) Object.assign(rule, { enabled: false })
      return undefined
    }
    case 'wrong-network-type': {
      if (network === undefined) return undefined
      removeNetwork(machine, network.id)
      machine.networks.push({ ...network, id: newId(machine), type: 'L2Bridge' })
      return undefined
    }
    case 'deleted-network':
      return network === undefined ? undefined : removeNetwork(machine, network.id)
    case 'new-subnet': {
      machine.cluster.subnet = `10.244.${machine.last % 250}.0/24`
      return undefined
    }
    case 'address-reassigned': {
      const book = machine.taken.get(overlayNetwork)
      for (const [address, owner] of book ?? []) if (owner === 'kube-proxy') book?.set(address, 'some pod')
      return undefined
    }
  }
}

/** Restarts HNS. The new HNS process starts without policies. */
function restartHns(machine: Machine): void {
  stopHns(machine)
  const hns = machine.services.get('hns')
  if (hns !== undefined) startSimulatedService(machine, hns)
}

function stopHns(machine: Machine): void {
  const hns = machine.services.get('hns')
  if (hns === undefined) return
  machine.policies = []
  machine.processes.delete(hns.process)
  Object.assign(hns, { state: 'Stopped', process: 0 })
}

export const allFaults: readonly SimulatedFault[] = faultNames.flatMap((name) =>
  nodeRoles.map((role) => ({ name, role })),
)
