import { statfs } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { hostPeers } from '../../src/agent/network-probe/network-probe.ts'
import type { WindowsHost } from '../../src/agent/host/host.ts'
import { runningRelease } from '../../src/agent/host/running-release.ts'
import { openMemory } from '../../src/agent/heal/heal-state-store.ts'
import { ClaimStore } from '../../src/agent/operator-lock/operator-lock-store.ts'
import { RunLog } from '../../src/agent/runs/run-event-log.ts'
import { Runs } from '../../src/agent/runs/runs.ts'
import { type AgentServer, serveAgent } from '../../src/agent/server/server.ts'
import { windowsWork } from '../../src/agent/host-operations/windows-operations.ts'
import { windowsHealer } from '../../src/agent/windows/heal/windows-healer.ts'
import { usualPace } from '../../src/agent/windows/reconcile/backoff.ts'
import { isReady } from './simulator/programs.ts'
import type { SimulatedWindows } from './simulator/simulated-windows.ts'
import { windowsPlaces } from '../../src/contract/windows-paths.ts'
import { base } from './paths.ts'
import type { Program } from './run-host.ts'

interface Agent {
  readonly server: AgentServer
  readonly runs: Runs
  readonly healing: Promise<void>
  readonly end: AbortController
}

/** The agent of the host: our own code, as long as the manager of services has a process for it. */
export class AgentService implements Program {
  readonly service = 'hyperkube-agent'
  readonly #windows: SimulatedWindows
  readonly #name: string
  readonly #socket: string
  #process = 0
  #running: Agent | undefined

  constructor(windows: SimulatedWindows, name: string, socket: string) {
    this.#socket = socket
    this.#windows = windows
    this.#name = name
  }

  async follow(process: number): Promise<void> {
    if (process === this.#process) return
    this.#running?.end.abort()
    await this.#running?.runs.stop()
    await this.#running?.healing
    await this.#running?.server.close()
    this.#running = undefined
    this.#process = process
    if (process !== 0) this.#running = await this.#start()
  }

  async #start(): Promise<Agent> {
    const { machine, place, host } = this.#windows
    const line = machine.services.get(this.service)?.commandLine ?? ''
    const version = /\\hyperkube-([^\\"]+)\\hyperkube\.exe/.exec(line)?.[1] ?? '0.0.0'
    const places = windowsPlaces(base)
    const own: WindowsHost = {
      ...host,
      // Its process is the one that the manager of services knows.
      release: runningRelease(version, place, place(places.program(version)), this.#process),
    }
    const runs = new Runs(this.#name, new RunLog(place(`${places.state}\\runs`)), () => new Date())
    const claims = await ClaimStore.open(place(`${places.state}\\claim.json`), () => Date.now())
    const work = windowsWork(own, {
      arch: 'x64',
      cpus: cpus().length,
      memoryBytes: totalmem(),
      now: () => new Date(),
      async space() {
        const { blocks, bavail, bsize } = await statfs(place('C:\\'))
        return { totalBytes: blocks * bsize, availableBytes: bavail * bsize }
      },
    })
    const end = new AbortController()
    const healer = windowsHealer({
      ...{ host: own, work, runs, claims, pace: usualPace, memory: await openMemory(own) },
      // What programs say of themselves: there are none to be asked.
      ask: async (_probe, { service }) =>
        service === undefined || isReady(machine, service.name)
          ? { state: 'well' }
          : { state: 'failed', seen: 'it says nothing' },
      tell: () => undefined,
      random: Math.random,
      say: (text) => void process.stderr.write(`${text}\n`),
      signal: end.signal,
    })
    const desk = { work, runs, claims, peers: hostPeers(), healer, version }
    return { server: await serveAgent(desk, this.#socket), runs, end, healing: healer.keep() }
  }
}
