import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import packageFile from '../../../package.json' with { type: 'json' }
import { thisMachine } from '../../agent/facts/this-machine.ts'
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

export const agent: CommandDefinition = {
  examples: [['hyperkube agent', 'as its service does, on every host']],
  configure: () => undefined,
  async run({ operator, signal, stderr, makePrivateDirectory }) {
    const { state } = linuxLayout
    await makePrivateDirectory(state)
    const version = await ownVersion()
    const runs = new Runs(operator.machine, new RunLog(join(state, 'runs')), () => new Date())
    const claims = await ClaimStore.open(join(state, 'claim.json'), () => Date.now())
    const host = linuxHost(version)
    const work = linuxWork(host, thisMachine())
    const server = await serveAgent({ work, runs, claims, peers: hostPeers(), version }, agentSocket)
    const say = (text: string): void => void stderr.write(`${text}\n`)
    say(`hyperkube ${version} listens at ${agentSocket}`)
    const ended = stopped(signal)
    const cease = giveBackMemory()
    const over = new AbortController()
    const scene = { host, work, runs, claims, say, signal: AbortSignal.any([ended, over.signal]) }
    const looks = Promise.all([
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
