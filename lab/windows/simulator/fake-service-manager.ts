import { createServer, type Server, type Socket } from 'node:net'
import {
  buildFragment,
  type Fragment,
  kinds,
  readFragment,
} from '../../../src/agent/host/windows/svcctl/connection.ts'
import { outcomes, procedures } from '../../../src/agent/host/windows/svcctl/manager.ts'
import { decodeMultiString, NdrReader, NdrWriter } from '../../../src/agent/host/windows/svcctl/ndr.ts'
import type { ServiceSettingsStore } from '../../../src/agent/host/windows/svcctl/service-settings.ts'
import type { Machine, SimulatedService } from './machine.ts'
import { serviceHandlers } from './service-handlers.ts'
import { startSimulatedService, stopSimulatedService } from './service-manager.ts'

/**
 * Creates a fake Service Control Manager for tests. It uses the same protocol on a socket and acts on a
 * simulated host.
 */
export function fakeServiceManager(machine: Machine): Server {
  return createServer((socket) => {
    const respond = createSession(machine)
    let rest: Buffer = Buffer.alloc(0)
    let parts: Fragment[] = []
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      for (let found = readFragment(rest); found !== undefined; found = readFragment(rest)) {
        rest = found.rest
        parts.push(found.fragment)
        if (!found.fragment.last) continue
        reply(socket, parts, respond)
        parts = []
      }
    })
  })
}

/** Maximum fragment length in bytes. It is short, so requests and responses need several fragments. */
const maxFragmentLength = 256

function reply(
  socket: Socket,
  parts: readonly Fragment[],
  respond: (procedure: number, input: Buffer) => Buffer,
): void {
  const [{ kind, call, body } = { kind: -1, call: 0, body: Buffer.alloc(0) }] = parts
  if (kind === kinds.bind) {
    socket.write(
      buildFragment({ kind: kinds.bindAck, call, body: buildBindAckBody(), first: true, last: true }),
    )
    return
  }
  const output = respond(body.readUInt16LE(6), Buffer.concat(parts.map((part) => part.body.subarray(8))))
  for (let at = 0; at < output.length; at += maxFragmentLength) {
    const part = Buffer.concat([Buffer.alloc(8), output.subarray(at, at + maxFragmentLength)])
    const last = at + maxFragmentLength >= output.length
    socket.write(buildFragment({ kind: kinds.response, call, body: part, first: at === 0, last }))
  }
}

function buildBindAckBody(): Buffer {
  const name = Buffer.from('\\pipe\\svcctl\0')
  const head = Buffer.alloc(10)
  head.writeUInt16LE(maxFragmentLength, 0)
  head.writeUInt16LE(maxFragmentLength, 2)
  head.writeUInt16LE(name.length, 8)
  const filled = Buffer.alloc((4 - ((head.length + name.length) % 4)) % 4)
  return Buffer.concat([head, name, filled, Buffer.from([1, 0, 0, 0]), Buffer.alloc(24)])
}

const fileNotFound = 2
const alreadyExists = 1073
const nullHandle = Buffer.alloc(20)
const stateNumbers = { Stopped: 1, 'Start Pending': 2, 'Stop Pending': 3, Running: 4 } as const

/**
 * Creates the state of one connection and returns its request handler. The number in a handle is the position
 * of the service in `open`, starting at 1.
 */
function createSession(machine: Machine): (procedure: number, input: Buffer) => Buffer {
  const { services } = serviceHandlers(machine)
  const open: string[] = []
  const openHandle = (name: string): Buffer => {
    const handle = Buffer.alloc(20)
    handle.writeUInt32LE(open.push(name), 4)
    return handle
  }
  const findService = (input: NdrReader): SimulatedService | undefined =>
    machine.services.get(open[input.raw(20).readUInt32LE(4) - 1] ?? '')
  const outcome = (number: number): NdrWriter => new NdrWriter().uint32(number)

  const handlers: Readonly<Record<number, (input: NdrReader) => NdrWriter>> = {
    [procedures.close]: () => new NdrWriter().raw(nullHandle).uint32(outcomes.success),
    [procedures.openManager]: () => new NdrWriter().raw(openHandle('')).uint32(outcomes.success),
    [procedures.openService](input) {
      input.raw(20)
      const name = input.string()
      if (!machine.services.has(name)) return new NdrWriter().raw(nullHandle).uint32(outcomes.noSuchService)
      return new NdrWriter().raw(openHandle(name)).uint32(outcomes.success)
    },
    [procedures.create](input) {
      input.raw(20)
      const name = input.string()
      input.optionalString()
      for (let skipped = 0; skipped < 4; skipped++) input.uint32()
      const commandLine = input.string()
      input.optionalString()
      input.uint32()
      const dependsOn = decodeMultiString(input.optionalArray() ?? nullHandle)
      if (machine.services.has(name)) return new NdrWriter().uint32(0).raw(nullHandle).uint32(alreadyExists)
      const rest = { description: '', environment: [], restartAfter: [0, 0, 0] as [number, number, number] }
      services.put({ name, commandLine, dependsOn, ...rest })
      return new NdrWriter().uint32(0).raw(openHandle(name)).uint32(outcomes.success)
    },
    [procedures.changeConfig](input) {
      const service = findService(input)
      for (let skipped = 0; skipped < 3; skipped++) input.uint32()
      const commandLine = input.optionalString()
      input.optionalString()
      input.uint32()
      const dependsOn = decodeMultiString(input.optionalArray() ?? nullHandle)
      Object.assign(service ?? {}, { commandLine, dependsOn })
      return new NdrWriter().uint32(0, outcomes.success)
    },
    [procedures.changeConfig2](input) {
      const service = findService(input)
      const [level] = [input.uint32(), input.uint32(), input.uint32()]
      if (level === 1) Object.assign(service ?? {}, { description: input.optionalString() })
      if (level === 2) {
        for (let skipped = 0; skipped < 5; skipped++) input.uint32()
        const restartAfter = Array.from({ length: input.uint32() }, () => [input.uint32(), input.uint32()][1])
        Object.assign(service ?? {}, { restartAfter })
      }
      return outcome(outcomes.success)
    },
    [procedures.queryStatusEx](input) {
      const { state, exitCode, process } = findService(input) ?? {
        state: 'Stopped' as const,
        exitCode: 0,
        process: 0,
      }
      const status = new NdrWriter().uint32(0x10, stateNumbers[state], 0, exitCode, 0, 0, 0, process, 0)
      return new NdrWriter().array(status.toBuffer()).uint32(36, outcomes.success)
    },
    [procedures.start](input) {
      const service = findService(input)
      if (service === undefined) return outcome(outcomes.noSuchService)
      if (service.state !== 'Stopped') return outcome(outcomes.alreadyRuns)
      try {
        startSimulatedService(machine, service)
        return outcome(outcomes.success)
      } catch {
        return outcome(fileNotFound)
      }
    },
    [procedures.control](input) {
      const service = findService(input)
      const status = new NdrWriter().raw(Buffer.alloc(28))
      if (service === undefined || service.state === 'Stopped') return status.uint32(outcomes.notActive)
      if (listRunningDependents(machine, service).length > 0) return status.uint32(outcomes.dependentsRun)
      stopSimulatedService(machine, service)
      return status.uint32(outcomes.success)
    },
    [procedures.enumDependents](input) {
      const service = findService(input)
      const size = [input.uint32(), input.uint32()][1] ?? 0
      const names = service === undefined ? [] : listRunningDependents(machine, service)
      const buffer = Buffer.alloc(size)
      let end = size
      for (const [index, name] of names.entries()) {
        end -= 2 * name.length + 2
        buffer.write(name, end, 'utf16le')
        buffer.writeUInt32LE(end, 36 * index)
      }
      return new NdrWriter().array(buffer).uint32(36 * names.length, names.length, outcomes.success)
    },
    [procedures.delete](input) {
      const service = findService(input)
      if (service !== undefined) services.remove({ name: service.name })
      return outcome(outcomes.success)
    },
  }
  return (procedure, input) => handlers[procedure]?.(new NdrReader(input)).toBuffer() ?? Buffer.alloc(4)
}

/** Lists running dependents in the order in which they must stop. */
function listRunningDependents(machine: Machine, { name }: SimulatedService): string[] {
  const direct = [...machine.services.values()].filter(
    ({ dependsOn, state }) => dependsOn.includes(name) && state !== 'Stopped',
  )
  return direct.flatMap((one) => [...listRunningDependents(machine, one), one.name])
}

/** Simulates the registry keys of services. */
export function fakeServiceSettings(machine: Machine): ServiceSettingsStore {
  return {
    async read(name) {
      const service = machine.services.get(name)
      if (service === undefined) throw new Error(`the registry has no ${name}`)
      return { ...service, startType: 2 }
    },
    async setEnvironment(name, environment) {
      Object.assign(machine.services.get(name) ?? {}, { environment })
    },
  }
}
