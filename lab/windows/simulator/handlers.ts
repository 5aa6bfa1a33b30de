import { fileHandlers } from './file-handlers.ts'
import type { Handlers } from './handler.ts'
import type { Machine } from './machine.ts'
import { networkHandlers } from './network-handlers.ts'
import { serviceHandlers } from './service-handlers.ts'

export function createHandlers(machine: Machine): Handlers {
  return {
    ...serviceHandlers(machine),
    ...networkHandlers(machine),
    ...fileHandlers(machine),
  }
}
