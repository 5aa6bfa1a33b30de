import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/agent/host/clock.ts'
import { httpFetch } from '../../src/agent/host/http-downloader.ts'
import { type SimulatedWindows, simulatedWindows } from './simulator/simulated-windows.ts'
import { describe } from '../../src/kit/errors.ts'
import { AgentService } from './agent-service.ts'
import { Kubelet } from './kubelet.ts'
import { base, program } from './paths.ts'

export interface HostWish {
  readonly name: string
  readonly address: string
  readonly gateway: string
}

/** What the host stands on, where that is not a host of the lab. */
export interface Ground {
  /** In which C: is a directory. */
  readonly root: string
  readonly agentSocket: string
  /** What happens to connections when the adapter goes away. */
  readonly bounce: () => Promise<void>
  readonly signal: AbortSignal
}

/** Between two looks at what shall run, in milliseconds. */
const every = 500

/** A Windows host whose state is that of the simulator, and whose time is everybody's. */
export async function runHost(
  { name, address, gateway }: HostWish,
  { root, agentSocket, bounce, signal }: Ground,
): Promise<SimulatedWindows> {
  const windows = await simulatedWindows({
    root,
    base,
    name: name.toUpperCase(),
    address,
    gateway,
    fetch: (place) => httpFetch(place, systemClock),
    version: '0.0.0',
    executable: program,
    time: 'real',
  })
  const kubelet = new Kubelet(windows, address)
  const own: SimulatedWindows = {
    ...windows,
    // The network of pods is decided by a real cluster.
    host: { ...windows.host, worker: { ...windows.host.worker, subnet: async () => kubelet.subnet } },
  }
  const agent = new AgentService(own, name, agentSocket)
  live(own, bounce, [agent, kubelet], signal).catch((error: unknown) => {
    process.stderr.write(`${describe(error)}\n`)
    process.exitCode = 1
  })
  return own
}

/** A program of the host: whether it shall run is for the manager of services to say. */
export interface Program {
  readonly service: string
  /** The process that the manager has for it; 0 is none. */
  follow(process: number): Promise<void>
}

async function live(
  windows: SimulatedWindows,
  bounce: Ground['bounce'],
  programs: readonly Program[],
  signal: AbortSignal,
): Promise<void> {
  let { breaks } = windows.machine
  while (!signal.aborted) {
    for (const one of programs) {
      const [seen] = await windows.host.operations.services.list({ names: [one.service] })
      await one
        .follow(seen?.state === 'Running' ? seen.processId : 0)
        .catch((error: unknown) => process.stderr.write(`${one.service}: ${describe(error)}\n`))
    }
    if (windows.machine.breaks !== breaks) {
      breaks = windows.machine.breaks
      await bounce()
    }
    await windows.save()
    await sleep(every)
  }
  for (const one of programs) await one.follow(0)
}
