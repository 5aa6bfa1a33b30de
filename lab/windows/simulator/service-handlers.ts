import { createHash } from 'node:crypto'
import type { Handlers } from './handler.ts'
import { formatInstant } from './instant.ts'
import type { Machine, SimulatedService } from './machine.ts'
import { startSimulatedService, stopSimulatedService, killProcess } from './service-manager.ts'

type Parts = Pick<Handlers, 'services' | 'processes' | 'environment' | 'system'>

export function serviceHandlers(machine: Machine): Parts {
  const requireService = (name: string): SimulatedService => {
    const service = machine.services.get(name)
    if (service === undefined) throw new Error(`Cannot find any service with service name '${name}'.`)
    return service
  }
  return {
    services: {
      list: ({ names }) =>
        [...machine.services.values()]
          .filter(({ name }) => names.includes(name))
          .map((service) => ({
            Name: service.name,
            State: service.state,
            StartMode: 'Auto' as const,
            ProcessId: service.process,
            ExitCode: service.exitCode,
            PathName: service.commandLine,
            Description: service.description,
            DependsOn: [...service.dependsOn],
            Environment: [...service.environment],
          })),
      put(spec) {
        const previous = machine.services.get(spec.name)
        if (previous !== undefined) {
          Object.assign(previous, spec)
          return []
        }
        machine.services.set(spec.name, {
          ...spec,
          state: 'Stopped',
          until: 0,
          exitCode: 1077,
          process: 0,
          restartAt: undefined,
          failures: 0,
          deaf: false,
        })
        return []
      },
      start({ name }) {
        startSimulatedService(machine, requireService(name))
        return []
      },
      stop({ name }) {
        stopSimulatedService(machine, requireService(name))
        return []
      },
      remove({ name }) {
        const service = machine.services.get(name)
        if (service === undefined) return []
        // A running service is removed when its process ends.
        if (service.process === 0) machine.services.delete(name)
        else service.markedForDeletion = true
        return []
      },
    },
    processes: {
      list: ({ below }) =>
        [...machine.processes.values()]
          .filter(({ program }) => program.toLowerCase().startsWith(`${below.toLowerCase()}\\`))
          .map(({ id, parent, program, startedAt }) => ({
            ProcessId: id,
            ParentProcessId: parent,
            ExecutablePath: program,
            CreationDate: formatInstant(startedAt),
          })),
      end({ id, program, startedAt }) {
        const process = machine.processes.get(id)
        if (process?.program !== program || formatInstant(process.startedAt) !== startedAt) return []
        killProcess(machine, process)
        return []
      },
    },
    environment: {
      get({ name }) {
        const value = machine.environment.get(name)
        return value === undefined ? [] : [{ Value: value }]
      },
      set({ name, value }) {
        if (value === null) machine.environment.delete(name)
        else machine.environment.set(name, value)
        return []
      },
    },
    system: {
      describe: () => [
        {
          ComputerName: machine.name,
          CurrentBuildNumber: '20348',
          UBR: 2700,
          EditionID: 'ServerStandard',
          InstallationType: 'Server Core',
          LastBootUpTime: formatInstant(machine.bootedAt),
          MachineGuid: toGuid(machine.name),
          ContainersFeature: true,
          HyperVFeature: false,
          RebootPending: false,
          Administrator: true,
          PSVersion: '5.1.20348.2700',
        },
      ],
    },
  }
}

/** Returns a guid derived from the host name, so every host has its own. */
function toGuid(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex').toUpperCase()
  return [
    [0, 8],
    [8, 12],
    [12, 16],
    [16, 20],
    [20, 32],
  ]
    .map(([from, to]) => hex.slice(from, to))
    .join('-')
}
