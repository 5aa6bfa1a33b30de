import { digestOf } from './file-handlers.ts'
import type { SimulatedFile } from './files/simulated-files.ts'
import { fileAt, type Machine, manager, type SimulatedProcess, type SimulatedService } from './machine.ts'

/** The Service Control Manager: services start and stop in their time, and those that fail are started again. */
const startsIn = 1000
const stopsIn = 2000

export function programOf({ commandLine }: Pick<SimulatedService, 'commandLine'>): string {
  return /^"([^"]+)"/.exec(commandLine)?.[1] ?? commandLine.split(' ')[0] ?? ''
}

export function begin(machine: Machine, service: SimulatedService): void {
  if (service.state !== 'Stopped') return
  for (const name of service.dependsOn) {
    const other = machine.services.get(name)
    if (other === undefined) throw new Error(`${service.name} depends on ${name}, which does not exist`)
    begin(machine, other)
  }
  const program = programOf(service)
  const image = fileAt(machine, program)
  if (image === undefined || image.directory) throw new Error('The system cannot find the file specified')
  const runs = toRun(service)
  const other = runs === undefined ? undefined : fileAt(machine, runs)
  const isVain = runs !== undefined && other === undefined
  const id = spawn(machine, service, image, { parent: manager, isVain })
  if (other !== undefined) spawn(machine, service, other, { parent: id, isVain })
  Object.assign(service, {
    state: 'Start Pending',
    until: machine.time + startsIn,
    process: id,
    restartAt: undefined,
  })
}

function spawn(
  machine: Machine,
  { name }: SimulatedService,
  { id: image, path, content }: SimulatedFile,
  { parent, isVain }: { readonly parent: number; readonly isVain: boolean },
): number {
  const id = ++machine.last
  machine.processes.set(id, {
    id,
    image,
    program: path,
    sha256: digestOf(content),
    damaged: isVain || content.subarray(0, 7).toString() === 'damaged',
    parent,
    service: name,
    startedAt: machine.time,
    network: undefined,
  })
  return id
}

/** The program that a runner is told to run. */
function toRun({ commandLine }: Pick<SimulatedService, 'commandLine'>): string | undefined {
  const [, ...words] = commandLine.match(/"[^"]*"|\S+/g) ?? []
  return words.map((word) => word.replaceAll('"', '')).find((word) => /^[A-Z]:.*\.exe$/.test(word))
}

/** As the manager does it by itself: that it could not is written to a log that nobody reads. */
export function beginAlone(machine: Machine, service: SimulatedService): void {
  const needed = service.dependsOn.map((name) => machine.services.get(name))
  const startable = [service, ...needed].every(
    (one) => one !== undefined && fileAt(machine, programOf(one)) !== undefined,
  )
  if (startable) begin(machine, service)
}

/** Those that depend on it go with it. */
export function halt(machine: Machine, service: SimulatedService): void {
  for (const other of machine.services.values()) {
    if (other.dependsOn.includes(service.name)) halt(machine, other)
  }
  service.restartAt = undefined
  if (service.state === 'Stopped' || service.state === 'Stop Pending') return
  service.state = 'Stop Pending'
  service.until = service.deaf ? Number.MAX_SAFE_INTEGER : machine.time + stopsIn
}

/** As when its process is killed, or ends with an error. One that was about to stop has stopped. */
export function fail(machine: Machine, service: SimulatedService, exitCode: number): void {
  if (service.state === 'Stopped') return
  const wasStopping = service.state === 'Stop Pending'
  ended(machine, service, exitCode)
  const after = service.restartAfter[Math.min(service.failures++, service.restartAfter.length - 1)]
  service.restartAt = wasStopping || after === undefined ? undefined : machine.time + after
}

/** As when somebody kills it: what a runner has started runs on without it, and a runner ends with what it has started. */
export function kill(machine: Machine, process: SimulatedProcess): void {
  const service = machine.services.get(process.service)
  machine.processes.delete(process.id)
  if (service === undefined || ![process.id, process.parent].includes(service.process)) return
  const orphans = childrenOf(machine, process.id)
  fail(machine, service, 1)
  for (const orphan of orphans) machine.processes.set(orphan.id, orphan)
}

export function childrenOf({ processes }: Machine, id: number): SimulatedProcess[] {
  return [...processes.values()].filter(({ parent }) => parent === id)
}

function ended(machine: Machine, service: SimulatedService, exitCode: number): void {
  for (const { id } of childrenOf(machine, service.process)) machine.processes.delete(id)
  machine.processes.delete(service.process)
  Object.assign(service, { state: 'Stopped', process: 0, exitCode, deaf: false })
  if (service.leaving === true) machine.services.delete(service.name)
}

export function manage(machine: Machine): void {
  for (const service of machine.services.values()) {
    if (service.state === 'Start Pending' && service.until <= machine.time) service.state = 'Running'
    if (service.state === 'Stop Pending' && service.until <= machine.time) ended(machine, service, 0)
    if (service.restartAt !== undefined && service.restartAt <= machine.time) {
      service.restartAt = undefined
      beginAlone(machine, service)
    }
  }
}

/** When its process has begun, while it runs. */
export function runsSince(machine: Machine, name: string): number | undefined {
  const service = machine.services.get(name)
  return service?.state === 'Running' ? machine.processes.get(service.process)?.startedAt : undefined
}
