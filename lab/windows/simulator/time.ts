import type { Machine } from './machine.ts'
import { beginAlone, manage } from './service-manager.ts'
import { live } from './programs.ts'
import { dropNetwork } from './virtual-switch.ts'

const tick = 1000

/** Lets time pass. */
export function advance(machine: Machine, milliseconds: number): void {
  const end = machine.time + milliseconds
  while (machine.time < end) {
    machine.time = Math.min(end, machine.time + tick)
    manage(machine)
    live(machine)
  }
}

/** All processes end; networks that do not last, policies and routes in memory are gone; services come by themselves. */
export function reboot(machine: Machine): void {
  machine.breaks++
  machine.processes.clear()
  machine.policies = []
  for (const { id, persistent } of [...machine.networks]) if (!persistent) dropNetwork(machine, id)
  machine.routes = machine.routes.filter(
    ({ destination, interfaceIndex }) => destination === '0.0.0.0/0' || interfaceIndex === 9,
  )
  for (const service of machine.services.values()) {
    Object.assign(service, { state: 'Stopped', process: 0, restartAt: undefined, failures: 0, deaf: false })
  }
  for (const adapter of machine.adapters) adapter.downUntil = 0
  machine.time += 30_000
  machine.bootedAt = machine.time
  for (const service of machine.services.values()) beginAlone(machine, service)
  for (const file of machine.files.all()) if (file.heldUntil > 0) file.heldUntil = 0
}
