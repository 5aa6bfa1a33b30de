import { z } from 'zod'
import { readVersioned, type Format } from '../../../src/contract/versioned.ts'
import type { Marks } from './files/directory-files.ts'
import type { SimulatedFiles } from './files/simulated-files.ts'
import type { Machine, SimulatedService } from './machine.ts'

const text = z.string()
const number = z.number()
const rows = <T extends z.ZodType>(value: T) => z.array(z.tuple([text, value]))

const service = z.strictObject({
  name: text,
  description: text,
  commandLine: text,
  dependsOn: z.array(text),
  environment: z.array(text),
  restartAfter: z.array(number),
  state: z.enum(['Stopped', 'Start Pending', 'Running', 'Stop Pending']),
  until: number,
  exitCode: number,
  process: number,
  restartAt: number.optional(),
  failures: number,
  deaf: z.boolean(),
  markedForDeletion: z.literal(true).optional(),
})

const process = z.strictObject({
  id: number,
  image: text,
  program: text,
  sha256: text,
  damaged: z.boolean(),
  parent: number,
  service: text,
  startedAt: number,
  network: text.optional(),
})

const saved = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('SimulatedMachine'),
  time: number,
  bootedAt: number,
  name: text,
  address: text,
  gateway: text,
  last: number,
  services: rows(service),
  processes: z.array(process),
  adapters: z.array(
    z.strictObject({
      name: text,
      index: number,
      virtual: z.boolean(),
      downUntil: number,
      addresses: z.array(z.strictObject({ IPAddress: text, PrefixLength: number })),
    }),
  ),
  routes: z.array(
    z.strictObject({ destination: text, nextHop: text, interfaceIndex: number, metric: number }),
  ),
  networks: z.array(
    z.strictObject({
      id: text,
      name: text,
      type: text,
      subnet: text,
      adapter: text.optional(),
      managementAddress: text.optional(),
      persistent: z.boolean(),
    }),
  ),
  endpoints: z.array(z.strictObject({ id: text, name: text, network: text, address: text })),
  policies: z.array(z.strictObject({ id: text, endpoints: z.array(text), sourceAddress: text })),
  rules: rows(z.strictObject({ name: text, group: text, enabled: z.boolean(), protocol: text, ports: text })),
  environment: rows(text),
  breaks: number,
  taken: rows(rows(text)),
  images: rows(z.strictObject({ digest: text, kept: z.boolean() })),
  cluster: z.strictObject({ registered: z.boolean(), subnet: text, programs: rows(text) }),
  /** Windows metadata of files in a local directory (key: file id). */
  marks: rows(z.strictObject({ access: text.optional(), heldUntil: number.optional() })),
})
export type SavedMachine = z.output<typeof saved>

/** Format of a saved simulated machine. Files are not included, because they stay on disk. */
export const savedMachineFormat: Format<SavedMachine> = {
  kind: 'SimulatedMachine',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: saved },
  older: [],
}

export function toSavedMachine(machine: Machine, marks: Marks): SavedMachine {
  const { files: _files, ...rest } = machine
  const { cluster } = machine
  const all = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'SimulatedMachine',
    ...rest,
    services: [...machine.services],
    processes: [...machine.processes.values()],
    rules: [...machine.rules],
    environment: [...machine.environment],
    taken: [...machine.taken].map(([network, book]) => [network, [...book]]),
    images: [...machine.images],
    cluster: { ...cluster, programs: [...cluster.programs] },
    marks: [...marks],
  }
  // Removes undefined properties, which a saved file does not contain either.
  return saved.parse(JSON.parse(JSON.stringify(all)))
}

export function restoreMachine(document: unknown, filesWith: (marks: Marks) => SimulatedFiles): Machine {
  const { apiVersion: _version, kind: _kind, marks, ...rest } = readVersioned(savedMachineFormat, document)
  const { cluster } = rest
  return {
    ...rest,
    services: new Map(rest.services.map(([name, one]) => [name, restoreService(one)])),
    processes: new Map(rest.processes.map((one) => [one.id, { ...one, network: one.network }])),
    networks: rest.networks.map((one) => ({
      ...one,
      adapter: one.adapter,
      managementAddress: one.managementAddress,
    })),
    rules: new Map(rest.rules),
    environment: new Map(rest.environment),
    taken: new Map(rest.taken.map(([network, book]) => [network, new Map(book)])),
    images: new Map(rest.images),
    cluster: { ...cluster, programs: new Map(cluster.programs) },
    files: filesWith(new Map(marks)),
  }
}

function restoreService({
  markedForDeletion,
  ...one
}: SavedMachine['services'][number][1]): SimulatedService {
  return {
    ...one,
    restartAt: one.restartAt,
    ...(markedForDeletion === undefined ? {} : { markedForDeletion }),
  }
}

/** Returns the complete state of a machine including its files, for comparisons. */
export function snapshotMachine(machine: Machine): unknown {
  const files = machine.files
    .all()
    .map(({ path, directory, content, access }) => ({ path, directory, content: content.toString(), access }))
  return { ...toSavedMachine(machine, new Map()), files }
}
