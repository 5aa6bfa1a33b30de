import { type NodeRole, roles } from '../../../src/agent/windows/reconcile/worker-spec.ts'
import { fileAt, type Machine, metadataAddress, newId, putFile } from './machine.ts'
import { begin, fail, halt, kill } from './service-manager.ts'
import { overlay } from './programs.ts'
import { bounce, dropNetwork } from './virtual-switch.ts'
import { reboot } from './time.ts'
import { workerWish } from './simulated-worker.ts'

/** What happens to hosts, in one word and to one of its programs. */
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
  'address-given-away',
] as const
export type FaultName = (typeof faultNames)[number]

export interface Fault {
  readonly name: FaultName
  readonly role: NodeRole
}

/** Does it to a machine. Whatever a fault does not find, it leaves alone. */
export function inflict(machine: Machine, { name, role }: Fault): void {
  const { program } = workerWish.services[role]
  const service = machine.services.get(role)
  const network = machine.networks.find((one) => one.name === overlay)
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
        Object.assign(fileAt(machine, path) ?? {}, { heldUntil: machine.time + 60_000 })
      return undefined
    }
    case 'damaged-program': {
      // The former one is still what runs: only its name is another's now.
      putFile(machine, program.path, `damaged ${machine.last}`)
      return undefined
    }
    case 'lost-program': {
      const lost = fileAt(machine, program.path)
      if (lost !== undefined) machine.files.remove(lost)
      return undefined
    }
    case 'killed-process':
      return service === undefined ? undefined : fail(machine, service, 1)
    case 'killed-runner': {
      const runner = machine.processes.get(service?.process ?? 0)
      return runner === undefined ? undefined : kill(machine, runner)
    }
    case 'stopped-service':
      return service === undefined ? undefined : halt(machine, service)
    case 'changed-service': {
      if (service !== undefined) service.commandLine += ' --another-flag'
      return undefined
    }
    case 'removed-service': {
      for (const { id, service: of } of machine.processes.values())
        if (of === role) machine.processes.delete(id)
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
      dropNetwork(machine, network.id)
      machine.networks.push({ ...network, id: newId(machine), type: 'L2Bridge' })
      return undefined
    }
    case 'deleted-network':
      return network === undefined ? undefined : dropNetwork(machine, network.id)
    case 'new-subnet': {
      machine.cluster.subnet = `10.244.${machine.last % 250}.0/24`
      return undefined
    }
    case 'address-given-away': {
      const book = machine.taken.get(overlay)
      for (const [address, owner] of book ?? []) if (owner === 'kube-proxy') book?.set(address, 'some pod')
      return undefined
    }
  }
}

/** Another process, and none of the policies. */
function restartHns(machine: Machine): void {
  stopHns(machine)
  const hns = machine.services.get('hns')
  if (hns !== undefined) begin(machine, hns)
}

function stopHns(machine: Machine): void {
  const hns = machine.services.get('hns')
  if (hns === undefined) return
  machine.policies = []
  machine.processes.delete(hns.process)
  Object.assign(hns, { state: 'Stopped', process: 0 })
}

export const allFaults: readonly Fault[] = faultNames.flatMap((name) => roles.map((role) => ({ name, role })))
