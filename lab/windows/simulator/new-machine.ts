import { digestOf } from './file-handlers.ts'
import type { SimulatedFiles } from './files/simulated-files.ts'
import { memoryFiles } from './files/in-memory-files.ts'
import {
  hostAddress,
  hostGateway,
  type Machine,
  manager,
  metadataAddress,
  newId,
  putFile,
} from './machine.ts'

export interface MachineWish {
  readonly files?: SimulatedFiles
  readonly name?: string
  readonly address?: string
  readonly gateway?: string
}

/** A host in a cloud on which somebody else has things, too, some of which look like ours. */
export function newMachine(programs: ReadonlyMap<string, string>, wish: MachineWish = {}): Machine {
  const { files = memoryFiles(), name = 'WIN1', address = hostAddress, gateway = hostGateway } = wish
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
  addForeign(machine)
  return machine
}

function addForeign(machine: Machine): void {
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
    const image = putFile(machine, `C:\\Windows\\System32\\${name}.exe`, name)
    const id = ++machine.last
    machine.processes.set(id, {
      id,
      image: image.id,
      program: image.path,
      sha256: digestOf(name),
      damaged: false,
      parent: manager,
      service: name,
      startedAt: 0,
      network: undefined,
    })
    machine.services.set(name, {
      ...foreign,
      name,
      process: id,
      description: 'of somebody else',
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
  putFile(machine, String.raw`C:\corp\kubelet.exe`, 'somebody else’s program of the same name')
}
