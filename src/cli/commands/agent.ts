import { realpath } from 'node:fs/promises'
import { Option } from 'commander'
import { z } from 'zod'
import packageFile from '../../../package.json' with { type: 'json' }
import { accessOf } from '../../agent/apply/planned-access.ts'
import { lastPlan } from '../../agent/apply/applied-plan.ts'
import { ladders } from '../../agent/heal/decision/escalation-policy.ts'
import { metricsText } from '../../agent/heal/report/metrics.ts'
import { processFigures } from '../../agent/heal/report/process-stats.ts'
import { serveMetrics } from '../../agent/heal/report/serve-metrics.ts'
import { teller } from '../../agent/heal/report/heal-reporter.ts'
import { join } from '../../agent/host/host-path.ts'
import { speakForHost } from '../../agent/host-resource/host-resource-connection.ts'
import { keepRenewed } from '../../agent/renewal/renewal-loop.ts'
import { renewOwn } from '../../agent/renewal/renew-local.ts'
import { usualRhythm } from '../../agent/renewal/intervals.ts'
import { type Look, rounds } from '../../agent/loop/run-loop.ts'
import { hostPeers } from '../../agent/network-probe/network-probe.ts'
import { ClaimStore } from '../../agent/operator-lock/operator-lock-store.ts'
import { askHello, heartbeat } from '../../agent/server/heartbeat.ts'
import { RunLog } from '../../agent/runs/run-event-log.ts'
import { Runs } from '../../agent/runs/runs.ts'
import { agentSocket, serveAgent } from '../../agent/server/server.ts'
import { systemdSupervisor } from '../../agent/server/supervisor.ts'
import { looksEvery, trialLook } from '../../agent/auto-rollback/rollback-check.ts'
import { giveBackMemory } from '../../kit/idle-gc.ts'
import { inTurns } from '../../kit/mutex.ts'
import { hostSpeaker } from '../agent/host-reporting.ts'
import { linuxAgent } from '../agent/linux-agent.ts'
import { windowsAgent } from '../agent/windows-agent.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'

const flags = z.object({ ladder: z.enum(['usual', 'seed']), baseDirectory: z.string() })

export const agent: CommandDefinition = {
  examples: [['hyperkube agent', 'as its service does, on every host']],
  configure(command) {
    command.addOption(
      new Option('--ladder <name>', 'what is tried for a component that is not well, and in which order')
        .choices(Object.keys(ladders))
        .default('usual'),
    )
    command.option(
      '--base-directory <path>',
      'where all of ours is on a Windows host',
      String.raw`C:\hyperkube`,
    )
  },
  async run({ operator, signal, stderr, makePrivateDirectory }, { options }) {
    const { ladder, baseDirectory } = flags.parse(options)
    const version = await ownVersion()
    await using wired =
      process.platform === 'win32' ? await windowsAgent(version, baseDirectory) : linuxAgent(version)
    const { host, work } = wired
    const { state } = host.layout
    if (host.os === 'linux') await makePrivateDirectory(state)
    else await host.files.makeDirectory(state, await accessOf(host, { owner: 'root', mode: '0700' }))
    const runs = new Runs(operator.machine, new RunLog(join(state, 'runs')), () => new Date())
    const claims = await ClaimStore.open(join(state, 'claim.json'), () => Date.now())
    const say = (text: string): void => void stderr.write(`${text}\n`)
    const ended = stopped(signal)
    const over = new AbortController()
    const scene = { host, work, runs, claims, say, signal: AbortSignal.any([ended, over.signal]) }
    const { tell, counters } = teller({ ...scene, plan: async () => lastPlan(host) })
    const asked: typeof wired.ask = async (probe, component, deadline) => {
      const seen = await wired.ask(probe, component, deadline)
      if (seen.state === 'failed') counters.countFailure({ component: component.name, probe: probe.name })
      return seen
    }
    const healer = await wired.healer({ ...scene, ask: asked, tell, ladder })
    const socket = agentSocket()
    const server = await serveAgent({ work, runs, claims, peers: hostPeers(), healer, version }, socket)
    say(`hyperkube ${version} listens at ${socket}`)
    serveMetrics({
      ...scene,
      text: async () => {
        const health = await healer.health(false, scene.signal)
        return metricsText({ version, health, counters, process: await processFigures() })
      },
    })
    // Probes make garbage all the time: to collect it as often as for a service that sleeps costs more than they do.
    const cease = giveBackMemory(60_000)
    const [renewal, turns] = [{ ...scene, rhythm: usualRhythm }, inTurns()]
    const renew = async (tellOf = say): Promise<Look> =>
      turns(async () => renewOwn({ ...renewal, say: tellOf }))
    const looks = Promise.all([
      healer.keep(),
      keepRenewed({ ...renewal, renew: async () => renew(), random: Math.random }),
      speakForHost(hostSpeaker({ ...scene, healer, version, renew })),
      rounds({
        ...scene,
        look: trialLook(scene),
        first: looksEvery,
        usual: looksEvery,
        clock: host.clock,
        random: Math.random,
      }),
    ])
    const supervisor = systemdSupervisor(process.env)
    const ask = async (deadline: AbortSignal): Promise<void> => askHello(socket, deadline)
    try {
      if (supervisor !== undefined) await heartbeat({ supervisor, ask, complain: say, signal: ended })
      await reached(ended)
    } finally {
      cease()
      over.abort()
      // What is in the middle of something gets to its next safe point, and whoever listens hears of it.
      await runs.stop()
      await looks
      await server.close()
    }
    return exitCodes.ok
  },
}

/** Named by the directory that it was put into, which also tells two builds of one version apart. */
async function ownVersion(): Promise<string> {
  const [, version] =
    /[\\/]hyperkube-([^\\/]+)[\\/]hyperkube(?:\.exe)?$/.exec(await realpath(process.execPath)) ?? []
  return version ?? packageFile.version
}

/** A service is stopped by SIGTERM, a person stops it otherwise. */
function stopped(signal: AbortSignal): AbortSignal {
  const service = new AbortController()
  process.once('SIGTERM', () => service.abort())
  return AbortSignal.any([service.signal, signal])
}

async function reached(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}
