import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { Option } from 'commander'
import { z } from 'zod'
import packageFile from '../../../package.json' with { type: 'json' }
import { thisMachine } from '../../agent/facts/this-machine.ts'
import { lastPlan } from '../../agent/apply/plan-memory.ts'
import { performStep } from '../../agent/heal/act/perform.ts'
import { ladders } from '../../agent/heal/core/ladders.ts'
import { dangersOf } from '../../agent/heal/dangers.ts'
import { lookAtDrift } from '../../agent/heal/drift/look.ts'
import type { Hands } from '../../agent/heal/hands.ts'
import { hostHealer } from '../../agent/heal/host-healer.ts'
import { openMemory } from '../../agent/heal/memory.ts'
import { hostEdges } from '../../agent/heal/probes/host-edges.ts'
import { prober } from '../../agent/heal/probes/prober.ts'
import { metricsText } from '../../agent/heal/told/metrics.ts'
import { processFigures } from '../../agent/heal/told/process-figures.ts'
import { serveMetrics } from '../../agent/heal/told/serve-metrics.ts'
import { teller } from '../../agent/heal/told/tell.ts'
import { linuxLayout } from '../../agent/host/layout.ts'
import { linuxHost } from '../../agent/host/linux-host.ts'
import { keepRenewed } from '../../agent/renewal/keep-renewed.ts'
import { usualRhythm } from '../../agent/renewal/rhythm.ts'
import { rounds } from '../../agent/rounds/rounds.ts'
import { hostPeers } from '../../agent/peers/peers.ts'
import { ClaimStore } from '../../agent/serve/claim-store.ts'
import { askHello, heartbeat } from '../../agent/serve/heartbeat.ts'
import { linuxWork } from '../../agent/serve/linux-work.ts'
import { RunLog } from '../../agent/serve/run-log.ts'
import { Runs } from '../../agent/serve/runs.ts'
import { agentSocket, serveAgent } from '../../agent/serve/server.ts'
import { systemdSupervisor } from '../../agent/serve/supervisor.ts'
import { looksEvery, trialLook } from '../../agent/trial/look-at-trial.ts'
import { giveBackMemory } from '../../kit/thrift.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'

const flags = z.object({ ladder: z.enum(['usual', 'seed']) })

export const agent: CommandDefinition = {
  examples: [['hyperkube agent', 'as its service does, on every host']],
  configure(command) {
    command.addOption(
      new Option('--ladder <name>', 'what is tried for a component that is not well, and in which order')
        .choices(Object.keys(ladders))
        .default('usual'),
    )
  },
  async run({ operator, signal, stderr, makePrivateDirectory }, { options }) {
    const ladder = ladders[flags.parse(options).ladder]
    const { state } = linuxLayout
    await makePrivateDirectory(state)
    const version = await ownVersion()
    const runs = new Runs(operator.machine, new RunLog(join(state, 'runs')), () => new Date())
    const claims = await ClaimStore.open(join(state, 'claim.json'), () => Date.now())
    const host = linuxHost(version)
    const work = linuxWork(host, thisMachine())
    const say = (text: string): void => void stderr.write(`${text}\n`)
    const ended = stopped(signal)
    const over = new AbortController()
    const scene = { host, work, runs, claims, say, signal: AbortSignal.any([ended, over.signal]) }
    using probes = prober(hostEdges(host))
    const { tell, counters } = teller({ ...scene, plan: async () => lastPlan(host) })
    const hands: Hands = {
      async ask(probe, component, deadline) {
        const seen = await probes.ask(probe, component, deadline)
        if (seen.state === 'failed') counters.countFailure({ component: component.name, probe: probe.name })
        return seen
      },
      lookAtDrift: async (plan) => lookAtDrift(host, plan),
      dangersOf: async (plan) => dangersOf(host, plan),
      perform: async (plan, step, stop) => performStep({ ...scene, plan }, step, stop),
      tell,
    }
    const memory = await openMemory(host)
    const healer = hostHealer({ ...scene, hands, memory, ladder, random: Math.random })
    const server = await serveAgent({ work, runs, claims, peers: hostPeers(), healer, version }, agentSocket)
    say(`hyperkube ${version} listens at ${agentSocket}`)
    serveMetrics({
      ...scene,
      text: async () => {
        const health = await healer.health(false, scene.signal)
        return metricsText({ version, health, counters, process: await processFigures() })
      },
    })
    // Probes make garbage all the time: to collect it as often as for a service that sleeps costs more than they do.
    const cease = giveBackMemory(60_000)
    const looks = Promise.all([
      healer.keep(),
      keepRenewed({ ...scene, rhythm: usualRhythm, random: Math.random }),
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
    const ask = async (deadline: AbortSignal): Promise<void> => askHello(agentSocket, deadline)
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
  const [, version] = /\/hyperkube-([^/]+)\/hyperkube$/.exec(await realpath(process.execPath)) ?? []
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
