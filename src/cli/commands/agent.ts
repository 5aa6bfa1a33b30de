import { realpath } from 'node:fs/promises'
import { Option } from 'commander'
import { z } from 'zod'
import packageFile from '../../../package.json' with { type: 'json' }
import { resolveAccess } from '../../agent/host/file-access.ts'
import { readAppliedPlan } from '../../agent/records/state-file.ts'
import { createReturnCheck, returnCheckIntervalMs } from '../../agent/auto-rollback/return-check.ts'
import { createRollbackCheck, rollbackCheckIntervalMs } from '../../agent/auto-rollback/rollback-check.ts'
import { escalationPolicies } from '../../agent/heal/decision/escalation-policy.ts'
import type { Healer } from '../../agent/heal/healer.ts'
import { createHealReporter } from '../../agent/heal/report/heal-reporter.ts'
import { formatAgentMetrics } from '../../agent/heal/report/metrics.ts'
import { readProcessStats, serveMetrics } from '../../agent/heal/report/serve-metrics.ts'
import { watchPlan } from '../../agent/heal/watch-host.ts'
import { createEtcdReporter } from '../../agent/host-resource/etcd-report.ts'
import {
  createRequestHandlers,
  type RenewNow,
} from '../../agent/host-resource/handlers/create-request-handlers.ts'
import { createEtcdutlVerifier } from '../../agent/host-resource/handlers/take-snapshot.ts'
import { createCertificateReader } from '../../agent/host-resource/host-certificates.ts'
import { createHostReporter } from '../../agent/host-resource/host-report.ts'
import {
  type HostResourceConnectionDeps,
  runHostResourceConnection,
} from '../../agent/host-resource/host-resource-connection.ts'
import { createLocalEtcdReader } from '../../agent/host-resource/local-etcd.ts'
import { openLocalSnapshots } from '../../agent/host-resource/local-snapshots.ts'
import { runHostCommand } from '../../agent/host/command.ts'
import { join } from '../../agent/host/host-path.ts'
import type { Host } from '../../agent/host/host.ts'
import { createNetworkProbe } from '../../agent/network-probe/network-probe.ts'
import { OperatorLockStore } from '../../agent/operator-lock/operator-lock-store.ts'
import { isLockedByOther } from '../../agent/operator-lock/operator-lock.ts'
import { createLinuxAgent, createWindowsAgent } from '../../agent/platform/platform-agent.ts'
import { defaultRenewalIntervals } from '../../agent/renewal/intervals.ts'
import { renewLocalCertificates } from '../../agent/renewal/renew-local.ts'
import { runRenewalLoop } from '../../agent/renewal/renewal-loop.ts'
import type { HostOperations } from '../../agent/runs/host-operations.ts'
import { RunEventLog } from '../../agent/runs/run-event-log.ts'
import { runLoop, type TickResult } from '../../agent/runs/run-loop.ts'
import { Runs } from '../../agent/runs/runs.ts'
import { openAgentKey } from '../../agent/server/agent-key.ts'
import { agentSocket } from '../../agent/server/bridge.ts'
import { requestHello, runHeartbeat, systemdSupervisor } from '../../agent/server/heartbeat.ts'
import { serveAgent } from '../../agent/server/server.ts'
import { createMutex } from '../../kit/concurrency.ts'
import { startIdleGc } from '../../kit/idle-gc.ts'
import { type LeafCommand, exitCodes } from '../command/command.ts'

const flags = z.object({ healPolicy: z.enum(['default', 'legacy-script']), baseDirectory: z.string() })

export const agentCommand: LeafCommand = {
  examples: [['hyperkube agent', 'run the agent; used by the service on every host']],
  sharedFlags: [],
  configure(command) {
    command.addOption(
      new Option('--heal-policy <name>', 'use this escalation policy for unhealthy components')
        .choices(Object.keys(escalationPolicies))
        .default('default'),
    )
    command.option(
      '--base-directory <path>',
      'Windows: use this base directory for all hyperkube files',
      String.raw`C:\hyperkube`,
    )
  },
  async run({ operator, signal, stderr, makePrivateDirectory }, { options }) {
    const { healPolicy, baseDirectory } = flags.parse(options)
    const version = await ownVersion()
    await using platform =
      process.platform === 'win32'
        ? await createWindowsAgent(version, baseDirectory)
        : createLinuxAgent(version)
    const { host, work } = platform
    const { state } = host.layout
    if (host.os === 'linux') await makePrivateDirectory(state)
    else await host.files.makeDirectory(state, await resolveAccess(host, { owner: 'root', mode: '0700' }))
    const runs = new Runs(operator.machine, new RunEventLog(join(state, 'runs')), () => new Date())
    const claims = await OperatorLockStore.open(join(state, 'claim.json'), () => Date.now())
    const log = (text: string): void => void stderr.write(`${text}\n`)
    const stopSignal = createStopSignal(signal)
    const shutdown = new AbortController()
    const deps = { host, work, runs, claims, log, signal: AbortSignal.any([stopSignal, shutdown.signal]) }
    const { report, counters } = createHealReporter({ ...deps, plan: async () => readAppliedPlan(host) })
    const runProbe: typeof platform.runProbe = async (probe, component, deadline) => {
      const result = await platform.runProbe(probe, component, deadline)
      if (result.state === 'unhealthy')
        counters.countFailure({ component: component.name, probe: probe.name })
      return result
    }
    const healer = await platform.createHealer({ ...deps, runProbe, report, healPolicy })
    const socket = agentSocket()
    const server = await serveAgent(
      { work, runs, claims, peers: createNetworkProbe(), healer, version },
      socket,
      host.os === 'windows' ? await openAgentKey(host.files, state) : undefined,
    )
    log(`hyperkube ${version} listens at ${socket}`)
    serveMetrics({
      ...deps,
      text: async () => {
        const health = await healer.health(false, deps.signal)
        return formatAgentMetrics({ version, health, counters, process: await readProcessStats() })
      },
    })
    const stopIdleGc = startIdleGc()
    const [renewal, mutex] = [{ ...deps, intervals: defaultRenewalIntervals }, createMutex()]
    const renew = async (logLine = log): Promise<TickResult> =>
      mutex(async () => renewLocalCertificates({ ...renewal, log: logLine }))
    const loops = Promise.all([
      healer.run(),
      runRenewalLoop({ ...renewal, renew: async () => renew(), random: Math.random }),
      runHostResourceConnection(createHostReportingDeps({ ...deps, healer, version, renew })),
      runLoop({
        ...deps,
        tick: createRollbackCheck(deps),
        firstMs: rollbackCheckIntervalMs,
        retryMs: rollbackCheckIntervalMs,
        clock: host.clock,
        random: Math.random,
      }),
      runLoop({
        ...deps,
        tick: createReturnCheck(deps),
        firstMs: returnCheckIntervalMs,
        retryMs: returnCheckIntervalMs,
        clock: host.clock,
        random: Math.random,
      }),
    ])
    const supervisor = systemdSupervisor(process.env)
    const sendHello = async (deadline: AbortSignal): Promise<void> => requestHello(socket, deadline)
    try {
      if (supervisor !== undefined)
        await runHeartbeat({
          supervisor,
          checkAgent: sendHello,
          isBusy: () => runs.busy,
          log,
          signal: stopSignal,
        })
      await waitForAbort(stopSignal)
    } finally {
      stopIdleGc()
      shutdown.abort()
      // Waits until runs reach their next safe point. The server closes last, so clients still get the last
      // events.
      await runs.stop()
      await loops
      await server.close()
    }
    return exitCodes.ok
  },
}

/**
 * Returns the version from the name of the install directory, because this name differs between two builds of
 * one version.
 */
async function ownVersion(): Promise<string> {
  const [, version] =
    /[\\/]hyperkube-([^\\/]+)[\\/]hyperkube(?:\.exe)?$/.exec(await realpath(process.execPath)) ?? []
  return version ?? packageFile.version
}

/** Creates a signal that aborts on SIGTERM from the service manager, or when `signal` aborts. */
function createStopSignal(signal: AbortSignal): AbortSignal {
  const service = new AbortController()
  process.once('SIGTERM', () => service.abort())
  return AbortSignal.any([service.signal, signal])
}

async function waitForAbort(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}

interface HostReportingOptions {
  readonly host: Host
  readonly work: Pick<HostOperations, 'activeRestore'>
  readonly runs: Runs
  readonly claims: Pick<OperatorLockStore, 'held'>
  readonly healer: Pick<Healer, 'health'>
  readonly renew: RenewNow
  readonly version: string
  readonly log: (text: string) => void
  readonly signal: AbortSignal
}

/**
 * Builds the deps with which an agent on any OS reports its host to controllers and handles their requests.
 */
function createHostReportingDeps(options: HostReportingOptions): HostResourceConnectionDeps {
  const { host, runs, claims, healer, version, log, signal } = options
  const plan = watchPlan(host)
  const member = createLocalEtcdReader({ host, plan, signal })
  const snapshots = openLocalSnapshots(host.layout.snapshots)
  return {
    host,
    plan,
    handlers: createRequestHandlers({
      ...options,
      plan,
      member,
      snapshots,
      verify: createEtcdutlVerifier(runHostCommand),
    }),
    readReport: createHostReporter({
      version,
      healer,
      certificates: createCertificateReader(host, plan),
      member: createEtcdReporter({ member, snapshots, clock: host.clock }),
    }),
    generation: () => claims.held?.generation ?? 0,
    isLocked: async () => runs.busy || (await isLockedByOther(options)),
    random: Math.random,
    log,
    signal,
  }
}
