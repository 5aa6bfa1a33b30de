import type { Machine } from './machine.ts'
import { autoStartService, advanceServices } from './service-manager.ts'
import { runPrograms } from './programs.ts'
import { removeNetwork } from './virtual-switch.ts'

const tickMs = 1000

/** Advances the simulated time of a machine in ticks. Services and programs act at each tick. */
export function advance(machine: Machine, milliseconds: number): void {
  const end = machine.time + milliseconds
  while (machine.time < end) {
    machine.time = Math.min(end, machine.time + tickMs)
    advanceServices(machine)
    runPrograms(machine)
  }
}

/**
 * Reboots a machine: all processes end, and non-persistent networks, policies and in-memory routes are lost.
 * All services whose programs exist are started again.
 */
export function reboot(machine: Machine): void {
  machine.breaks++
  machine.processes.clear()
  machine.policies = []
  for (const { id, persistent } of [...machine.networks]) if (!persistent) removeNetwork(machine, id)
  machine.routes = machine.routes.filter(
    ({ destination, interfaceIndex }) => destination === '0.0.0.0/0' || interfaceIndex === 9,
  )
  for (const service of machine.services.values()) {
    Object.assign(service, { state: 'Stopped', process: 0, restartAt: undefined, failures: 0, deaf: false })
  }
  for (const adapter of machine.adapters) adapter.downUntil = 0
  machine.time += 30_000
  machine.bootedAt = machine.time
  for (const service of machine.services.values()) autoStartService(machine, service)
  for (const file of machine.files.all()) if (file.heldUntil > 0) file.heldUntil = 0
}
