import type { Host } from '../../lab/hosts/host.ts'
import { readHostHealth, isHostHealthy } from './heal-health.ts'
import { everyNode, type HealRow } from './heal-row.ts'
import { resumeProcess, killProcess, pauseProcess } from './heal-rows-process.ts'

const service = 'hyperkube-agent'
const journal = '/var/lib/hyperkube/agent/journal.ndjson'
const common = { expects: 'heals', clients: 'there', runWithoutAgents: false } as const
/** True if the agent responds and reports the host as healthy. */
const isAgentHealthy = async (_cluster: unknown, host: Host): Promise<boolean> =>
  isHostHealthy(await readHostHealth(host))

/** Faults of the agent itself. */
export const agentRows: readonly HealRow[] = [
  {
    ...{ ...common, id: 'kill-agent', what: 'the agent SIGKILL', hosts: everyNode, runs: 5 },
    ...{ codes: [], timeoutMs: 120_000, seconds: 15 },
    inject: async (_cluster, host) => killProcess(host, service),
    undo: async () => undefined,
    isHealed: isAgentHealthy,
  },
  {
    ...{ ...common, id: 'stop-agent', what: 'the agent SIGSTOP', hosts: ['w1'], runs: 1 },
    // systemd restarts the paused agent only when the watchdog expires, after 20 s.
    ...{ codes: ['AGENT_UNREACHABLE'], timeoutMs: 120_000, seconds: 30 },
    inject: async (_cluster, host) => pauseProcess(host, service),
    undo: async (_cluster, host) => resumeProcess(host, service),
    isHealed: isAgentHealthy,
  },
  {
    ...{
      ...common,
      id: 'agent-journal',
      what: 'journal of the agent corrupted, then SIGKILL',
      hosts: ['cp2'],
    },
    ...{ runs: 1, codes: [], timeoutMs: 120_000, seconds: 20 },
    async inject(_cluster, host) {
      await host.script(`cp -a ${journal} /root/heal-journal
        printf '\\0\\377{"apiVersion":' | dd of=${journal} conv=notrunc status=none
        head -c 5000 /dev/urandom >> ${journal}
        ! cmp -s ${journal} /root/heal-journal`)
      await killProcess(host, service)
    },
    async undo(cluster, host) {
      if (await isAgentHealthy(cluster, host).catch(() => false)) return
      await host.script(`cp -a /root/heal-journal ${journal}; systemctl restart ${service}`)
    },
    isHealed: isAgentHealthy,
  },
]
