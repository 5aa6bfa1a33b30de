import { createServer, type Server, type Socket } from 'node:net'
import type { Machine, SimulatedService } from './machine.ts'
import { begin, halt } from './service-manager.ts'
import { serviceHandlers } from './service-handlers.ts'
import { outcomes, procedures } from '../../../src/agent/windows/svcctl/manager.ts'
import { NdrReader, NdrWriter, readMultiString } from '../../../src/agent/windows/svcctl/ndr.ts'
import { type Fragment, fragment, kinds, readFragment } from '../../../src/agent/windows/svcctl/pdu.ts'
import type { SettingsBook } from '../../../src/agent/windows/svcctl/service-settings.ts'

/** In the place of services.exe, for tests: it takes the same words on a socket and answers for a simulated host. */
export function fakeManager(machine: Machine): Server {
  return createServer((socket) => {
    const answer = serving(machine)
    let rest: Buffer = Buffer.alloc(0)
    let parts: Fragment[] = []
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      for (let found = readFragment(rest); found !== undefined; found = readFragment(rest)) {
        rest = found.rest
        parts.push(found.fragment)
        if (!found.fragment.last) continue
        reply(socket, parts, answer)
        parts = []
      }
    })
  })
}

/** Short ones, so that answers and requests come in several. */
const longest = 256

function reply(
  socket: Socket,
  parts: readonly Fragment[],
  answer: (procedure: number, input: Buffer) => Buffer,
): void {
  const [{ kind, call, body } = { kind: -1, call: 0, body: Buffer.alloc(0) }] = parts
  if (kind === kinds.bind) {
    socket.write(fragment({ kind: kinds.bindAck, call, body: boundBody(), first: true, last: true }))
    return
  }
  const output = answer(body.readUInt16LE(6), Buffer.concat(parts.map((part) => part.body.subarray(8))))
  for (let at = 0; at < output.length; at += longest) {
    const part = Buffer.concat([Buffer.alloc(8), output.subarray(at, at + longest)])
    const last = at + longest >= output.length
    socket.write(fragment({ kind: kinds.response, call, body: part, first: at === 0, last }))
  }
}

function boundBody(): Buffer {
  const name = Buffer.from('\\pipe\\svcctl\0')
  const head = Buffer.alloc(10)
  head.writeUInt16LE(longest, 0)
  head.writeUInt16LE(longest, 2)
  head.writeUInt16LE(name.length, 8)
  const filled = Buffer.alloc((4 - ((head.length + name.length) % 4)) % 4)
  return Buffer.concat([head, name, filled, Buffer.from([1, 0, 0, 0]), Buffer.alloc(24)])
}

const fileNotFound = 2
const exists = 1073
const nobody = Buffer.alloc(20)
const stateNumbers = { Stopped: 1, 'Start Pending': 2, 'Stop Pending': 3, Running: 4 } as const

/** One conversation: what it has open, by the handle's number. */
function serving(machine: Machine): (procedure: number, input: Buffer) => Buffer {
  const { services } = serviceHandlers(machine)
  const open: string[] = []
  const handleOf = (name: string): Buffer => {
    const handle = Buffer.alloc(20)
    handle.writeUInt32LE(open.push(name), 4)
    return handle
  }
  const serviceOf = (input: NdrReader): SimulatedService | undefined =>
    machine.services.get(open[input.raw(20).readUInt32LE(4) - 1] ?? '')
  const outcome = (number: number): NdrWriter => new NdrWriter().uint32(number)

  const handlers: Readonly<Record<number, (input: NdrReader) => NdrWriter>> = {
    [procedures.close]: () => new NdrWriter().raw(nobody).uint32(outcomes.well),
    [procedures.openManager]: () => new NdrWriter().raw(handleOf('')).uint32(outcomes.well),
    [procedures.openService](input) {
      input.raw(20)
      const name = input.string()
      if (!machine.services.has(name)) return new NdrWriter().raw(nobody).uint32(outcomes.noSuchService)
      return new NdrWriter().raw(handleOf(name)).uint32(outcomes.well)
    },
    [procedures.create](input) {
      input.raw(20)
      const name = input.string()
      input.optionalString()
      for (let skipped = 0; skipped < 4; skipped++) input.uint32()
      const commandLine = input.string()
      input.optionalString()
      input.uint32()
      const dependsOn = readMultiString(input.optionalArray() ?? nobody)
      if (machine.services.has(name)) return new NdrWriter().uint32(0).raw(nobody).uint32(exists)
      const rest = { description: '', environment: [], restartAfter: [0, 0, 0] as [number, number, number] }
      services.put({ name, commandLine, dependsOn, ...rest })
      return new NdrWriter().uint32(0).raw(handleOf(name)).uint32(outcomes.well)
    },
    [procedures.changeConfig](input) {
      const service = serviceOf(input)
      for (let skipped = 0; skipped < 3; skipped++) input.uint32()
      const commandLine = input.optionalString()
      input.optionalString()
      input.uint32()
      const dependsOn = readMultiString(input.optionalArray() ?? nobody)
      Object.assign(service ?? {}, { commandLine, dependsOn })
      return new NdrWriter().uint32(0, outcomes.well)
    },
    [procedures.changeConfig2](input) {
      const service = serviceOf(input)
      const [level] = [input.uint32(), input.uint32(), input.uint32()]
      if (level === 1) Object.assign(service ?? {}, { description: input.optionalString() })
      if (level === 2) {
        for (let skipped = 0; skipped < 5; skipped++) input.uint32()
        const restartAfter = Array.from({ length: input.uint32() }, () => [input.uint32(), input.uint32()][1])
        Object.assign(service ?? {}, { restartAfter })
      }
      return outcome(outcomes.well)
    },
    [procedures.queryStatusEx](input) {
      const { state, exitCode, process } = serviceOf(input) ?? {
        state: 'Stopped' as const,
        exitCode: 0,
        process: 0,
      }
      const status = new NdrWriter().uint32(0x10, stateNumbers[state], 0, exitCode, 0, 0, 0, process, 0)
      return new NdrWriter().array(status.toBuffer()).uint32(36, outcomes.well)
    },
    [procedures.start](input) {
      const service = serviceOf(input)
      if (service === undefined) return outcome(outcomes.noSuchService)
      if (service.state !== 'Stopped') return outcome(outcomes.alreadyRuns)
      try {
        begin(machine, service)
        return outcome(outcomes.well)
      } catch {
        return outcome(fileNotFound)
      }
    },
    [procedures.control](input) {
      const service = serviceOf(input)
      const status = new NdrWriter().raw(Buffer.alloc(28))
      if (service === undefined || service.state === 'Stopped') return status.uint32(outcomes.notActive)
      if (dependentsOf(machine, service).length > 0) return status.uint32(outcomes.dependentsRun)
      halt(machine, service)
      return status.uint32(outcomes.well)
    },
    [procedures.enumDependents](input) {
      const service = serviceOf(input)
      const size = [input.uint32(), input.uint32()][1] ?? 0
      const names = service === undefined ? [] : dependentsOf(machine, service)
      const buffer = Buffer.alloc(size)
      let end = size
      for (const [index, name] of names.entries()) {
        end -= 2 * name.length + 2
        buffer.write(name, end, 'utf16le')
        buffer.writeUInt32LE(end, 36 * index)
      }
      return new NdrWriter().array(buffer).uint32(36 * names.length, names.length, outcomes.well)
    },
    [procedures.delete](input) {
      const service = serviceOf(input)
      if (service !== undefined) services.remove({ name: service.name })
      return outcome(outcomes.well)
    },
  }
  return (procedure, input) => handlers[procedure]?.(new NdrReader(input)).toBuffer() ?? Buffer.alloc(4)
}

/** Those that run, the last in the row first. */
function dependentsOf(machine: Machine, { name }: SimulatedService): string[] {
  const direct = [...machine.services.values()].filter(
    ({ dependsOn, state }) => dependsOn.includes(name) && state !== 'Stopped',
  )
  return direct.flatMap((one) => [...dependentsOf(machine, one), one.name])
}

/** The registry of a simulated host, as far as it is about services. */
export function fakeSettings(machine: Machine): SettingsBook {
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
