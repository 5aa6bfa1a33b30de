import { statfs } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { hostPeers } from '../../src/agent/peers/peers.ts'
import type { WindowsHost } from '../../src/agent/host/host.ts'
import { runningRelease } from '../../src/agent/host/release.ts'
import type { Healer } from '../../src/agent/heal/healer.ts'
import { ClaimStore } from '../../src/agent/serve/claim-store.ts'
import { RunLog } from '../../src/agent/serve/run-log.ts'
import { Runs } from '../../src/agent/serve/runs.ts'
import { type AgentServer, serveAgent } from '../../src/agent/serve/server.ts'
import { windowsWork } from '../../src/agent/serve/windows-work.ts'
import type { SimulatedWindows } from '../../src/agent/windows/simulator/simulated-windows.ts'
import { windowsPlaces } from '../../src/contract/windows-places.ts'
import { base } from './places.ts'
import type { Program } from './run-host.ts'

/** The agent of the host: our own code, as long as the manager of services has a process for it. */
export class AgentService implements Program {
  readonly service = 'hyperkube-agent'
  readonly #windows: SimulatedWindows
  readonly #name: string
  readonly #socket: string
  #process = 0
  #running: { readonly server: AgentServer; readonly runs: Runs } | undefined

  constructor(windows: SimulatedWindows, name: string, socket: string) {
    this.#socket = socket
    this.#windows = windows
    this.#name = name
  }

  async follow(process: number): Promise<void> {
    if (process === this.#process) return
    await this.#running?.runs.stop()
    await this.#running?.server.close()
    this.#running = undefined
    this.#process = process
    if (process !== 0) this.#running = await this.#start()
  }

  async #start(): Promise<{ server: AgentServer; runs: Runs }> {
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
    const desk = { work, runs, claims, peers: hostPeers(), healer, version }
    return { server: await serveAgent(desk, this.#socket), runs }
  }
}

/** A healer that has nothing to heal: what an operator does to the host is what is shown here. */
const healer: Healer = {
  health: async () => ({
    at: new Date().toISOString(),
    ladder: 'usual',
    budget: { spent: 0, most: 10, within: 600_000 },
    components: [],
    probes: [],
    actions: [],
  }),
  pause: async () => undefined,
}
