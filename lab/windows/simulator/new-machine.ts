import { computeSha256 } from './file-handlers.ts'
import type { SimulatedFiles } from './files/simulated-files.ts'
import { inMemoryFiles } from './files/in-memory-files.ts'
import {
  hostAddress,
  hostGateway,
  type Machine,
  managerProcessId,
  metadataAddress,
  newId,
  writeMachineFile,
} from './machine.ts'

export interface MachineOptions {
  readonly files?: SimulatedFiles
  readonly name?: string
  readonly address?: string
  readonly gateway?: string
}

/**
 * Creates a cloud host that also contains resources of other software, some of them similar to those of
 * hyperkube.
 */
export function newMachine(programs: ReadonlyMap<string, string>, options: MachineOptions = {}): Machine {
  const { files = inMemoryFiles(), name = 'WIN1', address = hostAddress, gateway = hostGateway } = options
  const machine: Machine = {
    name,
    address,
    gateway,
    time: 0,
    bootedAt: 0,
    last: 100,
    services: new Map(),
    processes: new Map(),
    adapters: [
      {
        name: 'Ethernet',
        index: 4,
        virtual: false,
        downUntil: 0,
        addresses: [{ IPAddress: address, PrefixLength: 24 }],
      },
      {
        name: 'Backup network',
        index: 9,
        virtual: false,
        downUntil: 0,
        addresses: [{ IPAddress: '192.168.50.7', PrefixLength: 24 }],
      },
    ],
    routes: [
      { destination: '0.0.0.0/0', nextHop: gateway, interfaceIndex: 4, metric: 0 },
      { destination: metadataAddress, nextHop: gateway, interfaceIndex: 4, metric: 1 },
      { destination: '172.31.0.0/16', nextHop: '192.168.50.1', interfaceIndex: 9, metric: 5 },
    ],
    networks: [],
    endpoints: [],
    policies: [],
    rules: new Map(),
    environment: new Map([['Path', String.raw`C:\Windows\system32`]]),
    files,
    breaks: 0,
    taken: new Map(),
    images: new Map(),
    cluster: { registered: false, subnet: '10.244.3.0/24', programs },
  }
  addForeignResources(machine)
  return machine
}

function addForeignResources(machine: Machine): void {
  const foreign = {
    dependsOn: [],
    environment: [],
    restartAfter: [],
    exitCode: 0,
    restartAt: undefined,
    failures: 0,
    deaf: false,
    until: 0,
    state: 'Running' as const,
  }
  for (const name of ['hns', 'kubelet-exporter']) {
    const image = writeMachineFile(machine, `C:\\Windows\\System32\\${name}.exe`, name)
    const id = ++machine.last
    machine.processes.set(id, {
      id,
      image: image.id,
      program: image.path,
      sha256: computeSha256(name),
      damaged: false,
      parent: managerProcessId,
      service: name,
      startedAt: 0,
      network: undefined,
    })
    machine.services.set(name, {
      ...foreign,
      name,
      process: id,
      description: 'a foreign service',
      commandLine: `"${image.path}"`,
    })
  }
  const nat = newId(machine)
  machine.networks.push({
    id: nat,
    name: 'nat',
    type: 'nat',
    subnet: '172.29.144.0/20',
    adapter: undefined,
    managementAddress: undefined,
    persistent: true,
  })
  machine.endpoints.push({ id: newId(machine), name: 'db', network: nat, address: '172.29.144.9' })
  machine.rules.set('corp-backup', {
    name: 'corp-backup',
    group: 'corp',
    enabled: true,
    protocol: 'TCP',
    ports: '8400',
  })
  machine.environment.set('CorpSite', 'north')
  writeMachineFile(machine, String.raw`C:\corp\kubelet.exe`, 'a foreign program of the same name')
}
