import { statfs } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { openHealState } from '../../src/agent/heal/heal-state-store.ts'
import { createHealer } from '../../src/agent/heal/healer.ts'
import { createWindowsReconciler } from '../../src/agent/heal/windows/windows-reconciler.ts'
import type { WindowsHost } from '../../src/agent/host/host.ts'
import { createRunningRelease } from '../../src/agent/host/running-release.ts'
import { createNetworkProbe } from '../../src/agent/network-probe/network-probe.ts'
import { OperatorLockStore } from '../../src/agent/operator-lock/operator-lock-store.ts'
import { createWindowsOperations } from '../../src/agent/platform/host-operations.ts'
import { RunEventLog } from '../../src/agent/runs/run-event-log.ts'
import { Runs } from '../../src/agent/runs/runs.ts'
import { openAgentKey } from '../../src/agent/server/agent-key.ts'
import { type AgentServer, serveAgent } from '../../src/agent/server/server.ts'
import { defaultBackoff } from '../../src/agent/windows-worker/backoff.ts'
import { buildWindowsPaths } from '../../src/contract/host-paths.ts'
import { baseDirectory } from './paths.ts'
import type { HostProgram } from './run-host.ts'
import { isProgramReady } from './simulator/programs.ts'
import type { SimulatedWindows } from './simulator/simulated-windows.ts'

interface Agent {
  readonly server: AgentServer
  readonly runs: Runs
  readonly healing: Promise<void>
  readonly end: AbortController
}

/** Runs the real agent code while the simulated service manager has a process for the agent service. */
export class AgentService implements HostProgram {
  readonly service = 'hyperkube-agent'
  readonly #windows: SimulatedWindows
  readonly #name: string
  readonly #socket: string
  #processId = 0
  #running: Agent | undefined

  constructor(windows: SimulatedWindows, name: string, socket: string) {
    this.#socket = socket
    this.#windows = windows
    this.#name = name
  }

  async syncProcess(processId: number): Promise<void> {
    if (processId === this.#processId) return
    this.#running?.end.abort()
    await this.#running?.runs.stop()
    await this.#running?.healing
    await this.#running?.server.close()
    this.#running = undefined
    this.#processId = processId
    if (processId !== 0) this.#running = await this.#start()
  }

  async #start(): Promise<Agent> {
    const { machine, toLocalPath, host } = this.#windows
    const commandLine = machine.services.get(this.service)?.commandLine ?? ''
    const version = /\\hyperkube-([^\\"]+)\\hyperkube\.exe/.exec(commandLine)?.[1] ?? '0.0.0'
    const paths = buildWindowsPaths(baseDirectory)
    const agentHost: WindowsHost = {
      ...host,
      // The agent must report the process id that the simulated service manager assigned, not that of this
      // process.
      release: createRunningRelease(
        version,
        toLocalPath,
        toLocalPath(paths.program(version)),
        this.#processId,
      ),
    }
    const runs = new Runs(this.#name, new RunEventLog(toLocalPath(`${paths.state}\\runs`)), () => new Date())
    const claims = await OperatorLockStore.open(toLocalPath(`${paths.state}\\claim.json`), () => Date.now())
    const work = createWindowsOperations(agentHost, {
      arch: 'x64',
      cpus: cpus().length,
      memoryBytes: totalmem(),
      now: () => new Date(),
      async space() {
        const { blocks, bavail, bsize } = await statfs(toLocalPath('C:\\'))
        return { totalBytes: blocks * bsize, availableBytes: bavail * bsize }
      },
    })
    const end = new AbortController()
    const log = (text: string): void => void process.stderr.write(`${text}\n`)
    const deps = { host: agentHost, work, runs, claims, log }
    const healer = createHealer({
      ...deps,
      reconciler: createWindowsReconciler({ ...deps, backoff: defaultBackoff }),
      stateStore: await openHealState(agentHost),
      // There are no real programs to probe, so the simulator returns their health.
      runProbe: async (_probe, { service }) =>
        service === undefined || isProgramReady(machine, service.name)
          ? { state: 'healthy' }
          : { state: 'unhealthy', message: 'it says nothing' },
      report: () => undefined,
      random: Math.random,
      signal: end.signal,
    })
    const serverDeps = { work, runs, claims, peers: createNetworkProbe(), healer, version }
    const key = await openAgentKey(agentHost.files, agentHost.layout.state)
    const server = await serveAgent(serverDeps, this.#socket, key)
    return { server, runs, end, healing: healer.run() }
  }
}
