import { computeSha256 } from './file-handlers.ts'
import type { SimulatedFile } from './files/simulated-files.ts'
import {
  findFile,
  type Machine,
  managerProcessId,
  type SimulatedProcess,
  type SimulatedService,
} from './machine.ts'

/** Milliseconds that a simulated service takes to start. */
const startDurationMs = 1000
const stopDurationMs = 2000

export function parseServiceProgram({ commandLine }: Pick<SimulatedService, 'commandLine'>): string {
  return /^"([^"]+)"/.exec(commandLine)?.[1] ?? commandLine.split(' ')[0] ?? ''
}

export function startSimulatedService(machine: Machine, service: SimulatedService): void {
  if (service.state !== 'Stopped') return
  for (const name of service.dependsOn) {
    const other = machine.services.get(name)
    if (other === undefined) throw new Error(`${service.name} depends on ${name}, which does not exist`)
    startSimulatedService(machine, other)
  }
  const program = parseServiceProgram(service)
  const image = findFile(machine, program)
  if (image === undefined || image.directory) throw new Error('The system cannot find the file specified')
  const target = findRunnerTarget(service)
  const other = target === undefined ? undefined : findFile(machine, target)
  const isTargetMissing = target !== undefined && other === undefined
  const id = spawn(machine, service, image, { parent: managerProcessId, isVain: isTargetMissing })
  if (other !== undefined) spawn(machine, service, other, { parent: id, isVain: isTargetMissing })
  Object.assign(service, {
    state: 'Start Pending',
    until: machine.time + startDurationMs,
    process: id,
    restartAt: undefined,
  })
}

function spawn(
  machine: Machine,
  { name }: SimulatedService,
  { id: image, path, content }: SimulatedFile,
  { parent, isVain: isTargetMissing }: { readonly parent: number; readonly isVain: boolean },
): number {
  const id = ++machine.last
  machine.processes.set(id, {
    id,
    image,
    program: path,
    sha256: computeSha256(content),
    damaged: isTargetMissing || content.subarray(0, 7).toString() === 'damaged',
    parent,
    service: name,
    startedAt: machine.time,
    network: undefined,
  })
  return id
}

/** Returns the program that a wrapper starts, from the wrapper's command line. */
function findRunnerTarget({ commandLine }: Pick<SimulatedService, 'commandLine'>): string | undefined {
  const [, ...words] = commandLine.match(/"[^"]*"|\S+/g) ?? []
  return words.map((word) => word.replaceAll('"', '')).find((word) => /^[A-Z]:.*\.exe$/.test(word))
}

/**
 * Starts a service as the service manager does at boot or after a failure. Does nothing if the program of the
 * service or of one of its dependencies is missing.
 */
export function autoStartService(machine: Machine, service: SimulatedService): void {
  const needed = service.dependsOn.map((name) => machine.services.get(name))
  const startable = [service, ...needed].every(
    (one) => one !== undefined && findFile(machine, parseServiceProgram(one)) !== undefined,
  )
  if (startable) startSimulatedService(machine, service)
}

/** Stops a service and the services that depend on it. */
export function stopSimulatedService(machine: Machine, service: SimulatedService): void {
  for (const other of machine.services.values()) {
    if (other.dependsOn.includes(service.name)) stopSimulatedService(machine, other)
  }
  service.restartAt = undefined
  if (service.state === 'Stopped' || service.state === 'Stop Pending') return
  service.state = 'Stop Pending'
  service.until = service.deaf ? Number.MAX_SAFE_INTEGER : machine.time + stopDurationMs
}

/**
 * Ends a service whose process was killed or exited with an error. The service manager restarts the service
 * later, unless it was stopping.
 */
export function failService(machine: Machine, service: SimulatedService, exitCode: number): void {
  if (service.state === 'Stopped') return
  const wasStopping = service.state === 'Stop Pending'
  finishService(machine, service, exitCode)
  const after = service.restartAfter[Math.min(service.failures++, service.restartAfter.length - 1)]
  service.restartAt = wasStopping || after === undefined ? undefined : machine.time + after
}

/**
 * Kills a process of a service, which then fails. If a wrapper is killed, its child keeps running. If the
 * child is killed, its wrapper ends too.
 */
export function killProcess(machine: Machine, process: SimulatedProcess): void {
  const service = machine.services.get(process.service)
  machine.processes.delete(process.id)
  if (service === undefined || ![process.id, process.parent].includes(service.process)) return
  const orphans = listChildren(machine, process.id)
  failService(machine, service, 1)
  for (const orphan of orphans) machine.processes.set(orphan.id, orphan)
}

export function listChildren({ processes }: Machine, id: number): SimulatedProcess[] {
  return [...processes.values()].filter(({ parent }) => parent === id)
}

function finishService(machine: Machine, service: SimulatedService, exitCode: number): void {
  for (const { id } of listChildren(machine, service.process)) machine.processes.delete(id)
  machine.processes.delete(service.process)
  Object.assign(service, { state: 'Stopped', process: 0, exitCode, deaf: false })
  if (service.markedForDeletion === true) machine.services.delete(service.name)
}

export function advanceServices(machine: Machine): void {
  for (const service of machine.services.values()) {
    if (service.state === 'Start Pending' && service.until <= machine.time) service.state = 'Running'
    if (service.state === 'Stop Pending' && service.until <= machine.time) finishService(machine, service, 0)
    if (service.restartAt !== undefined && service.restartAt <= machine.time) {
      service.restartAt = undefined
      autoStartService(machine, service)
    }
  }
}

/** Returns the start time of a service's process, or undefined if the service does not run. */
export function findRunningSince(machine: Machine, name: string): number | undefined {
  const service = machine.services.get(name)
  return service?.state === 'Running' ? machine.processes.get(service.process)?.startedAt : undefined
}
