import { fileAt, type Machine, type SimulatedService } from './machine.ts'

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
  const image = fileAt(machine, programOf(service))
  if (image === undefined) throw new Error('The system cannot find the file specified')
  const id = ++machine.last
  machine.processes.set(id, {
    id,
    image,
    service: service.name,
    startedAt: machine.time,
    network: undefined,
  })
  Object.assign(service, {
    state: 'Start Pending',
    until: machine.time + startsIn,
    process: id,
    restartAt: undefined,
  })
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
  service.until = service.deaf ? Infinity : machine.time + stopsIn
}

/** As when its process is killed, or ends with an error. One that was about to stop has stopped. */
export function fail(machine: Machine, service: SimulatedService, exitCode: number): void {
  if (service.state === 'Stopped') return
  const wasStopping = service.state === 'Stop Pending'
  ended(machine, service, exitCode)
  const after = service.restartAfter[Math.min(service.failures++, service.restartAfter.length - 1)]
  service.restartAt = wasStopping || after === undefined ? undefined : machine.time + after
}

function ended(machine: Machine, service: SimulatedService, exitCode: number): void {
  machine.processes.delete(service.process)
  Object.assign(service, { state: 'Stopped', process: 0, exitCode, deaf: false })
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
