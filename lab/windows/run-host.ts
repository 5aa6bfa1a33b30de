import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/agent/host/clock.ts'
import { createHttpDownloader } from '../../src/agent/host/downloader.ts'
import { type SimulatedWindows, simulatedWindows } from './simulator/simulated-windows.ts'
import { formatError } from '../../src/kit/errors.ts'
import { AgentService } from './agent-service.ts'
import { SimulatedKubelet } from './kubelet.ts'
import { baseDirectory, hostProgram } from './paths.ts'

export interface WindowsHostOptions {
  readonly name: string
  readonly address: string
  readonly gateway: string
}

/** What a simulated host needs from the lab host on which it runs. */
export interface WindowsHostDeps {
  /** Local directory that contains the directory C:. */
  readonly root: string
  readonly agentSocket: string
  /** Called when the simulated network adapter goes down. */
  readonly interruptNetwork: () => Promise<void>
  readonly signal: AbortSignal
}

/** How often the simulator starts and stops programs to match the service manager, in milliseconds. */
const tickIntervalMs = 500

/** Runs a simulated Windows host in real time. */
export async function runHost(
  { name, address, gateway }: WindowsHostOptions,
  { root, agentSocket, interruptNetwork, signal }: WindowsHostDeps,
): Promise<SimulatedWindows> {
  const windows = await simulatedWindows({
    root,
    base: baseDirectory,
    name: name.toUpperCase(),
    address,
    gateway,
    fetch: (toLocalPath) => createHttpDownloader(toLocalPath, systemClock),
    version: '0.0.0',
    executable: hostProgram,
    time: 'real',
  })
  const kubelet = new SimulatedKubelet(windows, address)
  const simulated: SimulatedWindows = {
    ...windows,
    // The pod subnet comes from a real cluster, not from the simulator.
    host: { ...windows.host, worker: { ...windows.host.worker, subnet: async () => kubelet.subnet } },
  }
  const agent = new AgentService(simulated, name, agentSocket)
  runLoop(simulated, interruptNetwork, [agent, kubelet], signal).catch((error: unknown) => {
    process.stderr.write(`${formatError(error)}\n`)
    process.exitCode = 1
  })
  return simulated
}

/** A program of the host. The simulated service manager decides whether it runs. */
export interface HostProgram {
  readonly service: string
  /**
   * Starts or stops the program to match the process id of its service; 0 means that the service does not
   * run.
   */
  syncProcess(processId: number): Promise<void>
}

async function runLoop(
  windows: SimulatedWindows,
  interruptNetwork: WindowsHostDeps['interruptNetwork'],
  programs: readonly HostProgram[],
  signal: AbortSignal,
): Promise<void> {
  let { breaks } = windows.machine
  while (!signal.aborted) {
    for (const hostedProgram of programs) {
      const [service] = await windows.host.operations.services.list({ names: [hostedProgram.service] })
      await hostedProgram
        .syncProcess(service?.state === 'Running' ? service.processId : 0)
        .catch((error: unknown) => process.stderr.write(`${hostedProgram.service}: ${formatError(error)}\n`))
    }
    if (windows.machine.breaks !== breaks) {
      breaks = windows.machine.breaks
      await interruptNetwork()
    }
    await windows.save()
    await sleep(tickIntervalMs)
  }
  for (const hostedProgram of programs) await hostedProgram.syncProcess(0)
}
